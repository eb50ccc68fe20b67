// Public benchmark prompts as training examples: what their labels say about task, domain and difficulty.
import { join } from 'node:path';
import type { Domain, TaskType } from '../../src/routing/decision.ts';
import { type Example, promptRequest, readGzipLines } from './train-data.ts';

/** Benchmarks repeat themselves: more of one kind teaches its template, not the task. */
const PER_KIND_MAX = 15;
const PER_DOMAIN_MAX = 600;

/** `knowledge` is asking for facts; `chat` there is made-up dialogue that nobody types at a model, so it is left out. */
const TASK_OF: Readonly<Record<string, TaskType>> = {
  coding: 'coding',
  math: 'math',
  reasoning: 'reasoning',
  knowledge: 'qa',
  extraction: 'extraction',
  summarization: 'summarization',
  writing: 'writing',
};

/** How hard the sets of the math ladder are for a middling model. */
const LADDER: Readonly<Record<string, number>> = {
  asdiv: 0.08,
  mawps: 0.08,
  svamp: 0.12,
  gsm8k: 0.3,
  aqua: 0.45,
  sat_math: 0.4,
  college_math: 0.55,
  math500: 0.6,
  gaokao2023en: 0.6,
  minerva_math: 0.7,
  amc23: 0.75,
  olympiadbench: 0.9,
  aime24: 0.95,
};

/** Reads the folders under `data`; random numbers come from the caller, so that the choice can be repeated. */
export function readBenchmarks(data: string, random: () => number): Example[] {
  const difficulty = readDifficulty(data);
  return [
    ...unified(data, random, difficulty),
    ...domains(data, random, difficulty),
    ...ladder(data, random),
    ...arenaHard(data),
    ...selfInstruct(data),
  ];
}

/** From a row's id to how hard the weak models of its source found it. */
function readDifficulty(data: string): ReadonlyMap<string, number> {
  const rows = readGzipLines(join(data, 'derived_difficulty', 'dev.jsonl.gz'));
  return new Map(
    rows.map((row) => {
      const weak = Number(row['p_weak']);
      const strong = Number(row['p_strong']);
      return [`${row['source']}/${row['id']}`, 1 - (0.7 * weak + 0.3 * strong)];
    }),
  );
}

function unified(data: string, random: () => number, difficulty: ReadonlyMap<string, number>): Example[] {
  const rows = readGzipLines(join(data, 'labels_unified', 'train.jsonl.gz'));
  return capped(rows, (row) => String(row['raw_label']), PER_KIND_MAX, random).flatMap((row) => {
    const task = TASK_OF[String(row['label'])];
    if (task === undefined || row['source'] === 'mmlu_pro_ori') return [];
    const domain = task === 'math' ? 'math' : task === 'coding' ? 'computer_science' : undefined;
    return [benchmark(row, { task, domain, difficulty: difficulty.get(`${row['source']}/${row['id']}`) })];
  });
}

function domains(data: string, random: () => number, difficulty: ReadonlyMap<string, number>): Example[] {
  const rows = readGzipLines(join(data, 'mmlu_pro', 'dev_ori_mmlu.jsonl.gz'));
  return capped(rows, (row) => String(row['category']), PER_DOMAIN_MAX, random).map((row) => {
    const category = String(row['category']).replace(' ', '_') as Domain;
    // Its `other` is accounting and trivia, ours is everyday matters.
    const domain = category === 'other' ? undefined : category;
    // An exam question about computers is hardly ever how a person asks for code.
    const task = domain === 'math' ? 'math' : domain === 'computer_science' ? undefined : 'qa';
    const example = benchmark(row, { task, domain, difficulty: difficulty.get(`mmlu_pro/${row['id']}`) });
    // Without its options the question reads like one a person would ask.
    const bare = String(row['prompt']).split(/\n\s*A[.)] /)[0] ?? '';
    return random() < 0.6 ? { ...example, request: promptRequest(bare) } : example;
  });
}

function ladder(data: string, random: () => number): Example[] {
  const rows = readGzipLines(join(data, 'labels_math_ladder', 'math_ladder.jsonl.gz'));
  return capped(rows, (row) => String(row['set']), PER_KIND_MAX, random).map((row) =>
    benchmark(row, { task: 'math', domain: 'math', difficulty: LADDER[String(row['set'])] }),
  );
}

/** Prompts chosen for being hard; their task is not labelled. */
function arenaHard(data: string): Example[] {
  const rows = readGzipLines(join(data, 'labels_arena_hard', 'v0.1.jsonl.gz'));
  return rows.map((row) => benchmark(row, { difficulty: 0.7 }));
}

/** Everyday instructions, mostly easy; only the templates whose names say the task carry one. */
function selfInstruct(data: string): Example[] {
  const folder = join(data, 'labels_selfinstruct');
  const files = ['user_oriented_252.jsonl.gz', 'seed_tasks_175.jsonl.gz'];
  return files.flatMap((file) => readGzipLines(join(folder, file)).map((row) => benchmark(row, { difficulty: 0.35 })));
}

type Labels = {
  readonly task?: TaskType | undefined;
  readonly domain?: Domain | undefined;
  readonly difficulty?: number | undefined;
};

function benchmark(row: Readonly<Record<string, unknown>>, { task, domain, difficulty }: Labels): Example {
  return {
    request: promptRequest(String(row['prompt'])),
    ...(task === undefined ? {} : { task }),
    ...(domain === undefined ? {} : { domain }),
    ...(difficulty === undefined ? {} : { difficulty }),
    lang: 'en',
    batch: '',
  };
}

/** At most `max` rows of each kind, chosen by the random numbers given. */
function capped<T>(rows: readonly T[], kindOf: (row: T) => string, max: number, random: () => number): T[] {
  const kinds = new Map<string, { row: T; order: number }[]>();
  for (const row of rows) {
    const kind = kindOf(row);
    const list = kinds.get(kind) ?? [];
    list.push({ row, order: random() });
    kinds.set(kind, list);
  }
  return [...kinds.values()].flatMap((list) =>
    list
      .sort((left, right) => left.order - right.order)
      .slice(0, max)
      .map(({ row }) => row),
  );
}
