// The decision record: what the router chose, from what, and why. The one shape shown everywhere.

export const TASK_TYPES = [
  'chat',
  'coding',
  'math',
  'reasoning',
  'writing',
  'summarization',
  'extraction',
  'translation',
  'qa',
  'agentic',
  'vision',
] as const;
export type TaskType = (typeof TASK_TYPES)[number];

export const DOMAINS = [
  'biology',
  'business',
  'chemistry',
  'computer_science',
  'economics',
  'engineering',
  'health',
  'history',
  'law',
  'math',
  'philosophy',
  'physics',
  'psychology',
  'other',
] as const;
export type Domain = (typeof DOMAINS)[number];

export const COMPLEXITIES = ['simple', 'medium', 'complex'] as const;
export type Complexity = (typeof COMPLEXITIES)[number];

/** Preference weights as given, not normalised; each 0 or more, not all 0. */
export type Weights = { readonly speed: number; readonly quality: number; readonly cost: number };

export type Classification = {
  readonly task_type: TaskType;
  readonly domain: Domain;
  readonly complexity: Complexity;
  /** 0 (trivial) to 1 (beyond most models). */
  readonly difficulty: number;
  /** 0 to 1: how sure the classifier is of `task_type`. */
  readonly confidence: number;
  /** What the classifier saw, by name; small numbers only, never text of the prompt. */
  readonly signals: Readonly<Record<string, number>>;
};

export type Needs = {
  readonly input_tokens: number;
  readonly max_output_tokens: number;
  readonly vision: boolean;
  readonly tools: boolean;
  readonly structured_output: boolean;
  readonly reasoning: boolean;
};

export type Candidate = {
  readonly model: string;
  /** Exactly the preference-weighted mean of `quality`, `speed` and `cost`. */
  readonly score: number;
  readonly quality: number;
  readonly speed: number;
  readonly cost: number;
  /** USD, decimal string. */
  readonly estimated_cost: string;
  readonly estimated_ttft_ms: number;
  /** True where the model's abilities are a guess from price, date and family. */
  readonly estimated?: true;
};

export type Exclusion = { readonly model: string; readonly reason: string };

export type Flip = {
  readonly if:
    | { readonly weights: Weights }
    | { readonly input_tokens: number }
    | { readonly max_output_tokens: number };
  readonly then: string;
};

export type Decision = {
  readonly id: string;
  readonly requested: string;
  /** The virtual model whose weights were used; null for a real model. */
  readonly preset: string | null;
  readonly weights: Weights | null;
  readonly classification: Classification;
  readonly needs: Needs;
  /** All of them, best first. */
  readonly candidates: readonly Candidate[];
  readonly excluded: readonly Exclusion[];
  readonly chosen: string;
  readonly why: string;
  readonly flips: readonly Flip[];
  readonly sticky: boolean;
};
