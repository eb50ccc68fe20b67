// The neutral form: what a request, an answer and a stream are between the dialects.

export type Dialect = 'chat' | 'messages' | 'responses';

/** Kept wherever a dialect can mark a prefix for caching; passed on as it came. */
export type CacheControl = Readonly<Record<string, unknown>>;

export type TextPart = { readonly type: 'text'; readonly text: string; readonly cacheControl?: CacheControl };
/** `data` is base64 without a prefix; `url` is anything else the caller gave. */
export type ImagePart = {
  readonly type: 'image';
  readonly mediaType?: string;
  readonly data?: string;
  readonly url?: string;
  readonly detail?: string;
  readonly cacheControl?: CacheControl;
};
export type FilePart = {
  readonly type: 'file';
  readonly mediaType?: string;
  readonly filename?: string;
  readonly data?: string;
  readonly url?: string;
  readonly cacheControl?: CacheControl;
};
/** A part svc does not understand: passed on where the dialect is the same, shown as JSON text where it is not. */
export type OpaquePart = {
  readonly type: 'opaque';
  readonly dialect: Dialect;
  readonly value: Readonly<Record<string, unknown>>;
};
export type ContentPart = TextPart | ImagePart | FilePart | OpaquePart;

/** Reasoning the model showed. `signature` and `encrypted` are byte-exact and never made up. */
export type ThinkingPart = {
  readonly type: 'thinking';
  readonly text: string;
  readonly signature?: string;
  readonly encrypted?: string;
};
/** `arguments` is the JSON text as the model wrote it, valid or not. */
export type ToolCall = {
  readonly type: 'tool_call';
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  readonly cacheControl?: CacheControl;
};

export type NeutralMessage =
  | { readonly role: 'system'; readonly name?: string; readonly content: readonly ContentPart[] }
  | { readonly role: 'user'; readonly name?: string; readonly content: readonly ContentPart[] }
  | {
      readonly role: 'assistant';
      readonly name?: string;
      readonly content: readonly (ContentPart | ThinkingPart | ToolCall)[];
    }
  | {
      readonly role: 'tool';
      readonly toolCallId: string;
      readonly isError: boolean;
      readonly content: readonly ContentPart[];
    };

export type NeutralTool = {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema, verbatim. */
  readonly parameters?: unknown;
  readonly strict?: boolean;
  readonly cacheControl?: CacheControl;
};

export type ToolChoice =
  | { readonly type: 'auto' | 'none' | 'required' }
  | { readonly type: 'tool'; readonly name: string };

export type ResponseFormat =
  | { readonly type: 'json_object' }
  | {
      readonly type: 'json_schema';
      readonly name: string;
      readonly schema: unknown;
      readonly strict?: boolean;
      readonly description?: string;
    };

/** `effort` is the caller's word (`low` … `max`); `maxTokens` a thinking budget; `enabled: false` turns it off. */
export type Reasoning = { readonly enabled?: boolean; readonly effort?: string; readonly maxTokens?: number };

export type NeutralRequest = {
  readonly dialect: Dialect;
  readonly model: string;
  readonly messages: readonly NeutralMessage[];
  readonly tools: readonly NeutralTool[];
  readonly toolChoice?: ToolChoice;
  readonly parallelToolCalls?: boolean;
  /** What the caller gave as `max_tokens` (or `max_completion_tokens`); absent when it gave none. */
  readonly maxTokens?: number;
  readonly stream: boolean;
  /** Chat: `stream_options.include_usage`; always true for Messages. */
  readonly includeUsage: boolean;
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly stop?: readonly string[];
  readonly responseFormat?: ResponseFormat;
  readonly reasoning?: Reasoning;
  /** The end user's id as the caller sent it. */
  readonly user?: string;
  readonly serviceTier?: string;
  /** `session_id` or `prompt_cache_key` of the body. */
  readonly session?: string;
  /** How many choices the caller asked for (Chat's `n`), 1 when absent. */
  readonly choices: number;
  /** The `svc` body field as given, already checked to be an object; taken off before the request goes upstream. */
  readonly svc?: Readonly<Record<string, unknown>>;
  /** Top-level fields that only svc's own sandbox understands (`sandbox`), carried across dialects. */
  readonly sandbox?: unknown;
};

/** Token counts of one answer. `inputTokens` counts everything read, cached and written tokens included. */
export type Usage = {
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  /** USD as the upstream said it, when it did. */
  readonly upstreamCost?: number;
};

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'error';

/** A whole answer. `usage` is absent when the upstream sent none. */
export type NeutralResponse = {
  readonly id: string;
  readonly model: string;
  readonly created: number;
  readonly content: readonly (TextPart | ThinkingPart | ToolCall)[];
  readonly refusal?: string;
  readonly finishReason: FinishReason;
  /** The stop sequence that ended the answer, where the upstream named it. */
  readonly stopSequence?: string;
  /** The model's own word for how it ended, where the upstream passes it on beside `finishReason`. */
  readonly nativeFinish?: string;
  readonly usage?: Usage;
};
