// Makes config/catalog.json, the shipped snapshot, from tables gathered outside this repository: `npm run catalog [folder]`.
//
// The folder (by default ../shared/data/catalog beside the repository) holds what is read:
//   catalog.json, catalog_overlay.json  ids, limits, parameters and prices as an aggregator listed them
//   recommended_ids.txt                 which of them to take
//   priors.csv                          per model and task a latent ability (theta), fitted over many public benchmarks
//   effort.csv                          how far theta falls at less than the best reasoning effort
//   speed.csv                           tokens per second and time to the first token of the answer
// None of these tables is copied: every ability is our own figure, derived as `abilityOf` says, and speeds are rounded
// to two digits. Descriptions are left out. The same input gives the same bytes.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseCatalog } from '../../src/routing/parse-catalog.ts';

type ListedRow = {
  readonly id: string;
  readonly name: string;
  readonly created: number;
  readonly context_length: number;
  readonly max_output_tokens: number | null;
  readonly input_modalities: readonly string[];
  readonly supported_parameters: readonly string[];
  readonly price_per_1m_usd: Readonly<Record<'input' | 'output' | 'cache_read' | 'cache_write', number | null>>;
  readonly special_purpose: boolean;
  readonly is_free: boolean;
  readonly inherits_quality_from: string | null;
  readonly inferred_from?: string;
};
type Row = Readonly<Record<string, string>>;
type Prior = { readonly theta: number; readonly measured: boolean };
type Tables = {
  readonly listed: ReadonlyMap<string, ListedRow>;
  readonly priors: ReadonlyMap<string, ReadonlyMap<string, Prior>>;
  readonly speeds: ReadonlyMap<string, Row>;
  readonly efforts: ReadonlyMap<string, ReadonlyMap<string, number>>;
};

/** Our task types as weighted mixtures of the table's. Faithfulness counts only where it was measured. */
const MIXTURES: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  general: { general: 1 },
  coding: { coding: 1 },
  math: { math: 1 },
  reasoning: { reasoning: 1 },
  writing: { writing_chat: 1 },
  chat: { writing_chat: 0.6, instruction_following: 0.2, general: 0.2 },
  summarization: { data_analysis_extraction: 0.4, instruction_following: 0.2, writing_chat: 0.2, faithfulness: 0.2 },
  extraction: { data_analysis_extraction: 0.5, instruction_following: 0.3, faithfulness: 0.2 },
  translation: { translation_language: 0.5, general: 0.5 },
  qa: { knowledge: 0.7, reasoning: 0.3 },
  agentic: { agentic_tools: 1 },
  vision: { vision: 1 },
};
/** Where thinking longer is most of the ability; elsewhere less effort costs half as much. */
const THINKING_TASKS = new Set(['coding', 'math', 'reasoning', 'agentic']);

/**
 * Share of medium prompts done well = logistic(CENTRE + SLOPE × theta). The tables' own 0..1 scale is that of frontier
 * benchmarks; people's prompts are easier. Anchors: gpt-4o (theta -0.95) does about 55 % of medium prompts well, the
 * best of the table (theta 1.75) about 97 %.
 */
const CENTRE = 1.35;
const SLOPE = 1.2;

/** Runs at the highest efforts, brought to what a caller who sets none can expect: share of the thinking, and of theta. */
const TO_DEFAULT: Readonly<Record<string, { readonly thinking: number; readonly theta: number }>> = {
  max: { thinking: 0.15, theta: -0.25 },
  xhigh: { thinking: 0.25, theta: -0.2 },
  high: { thinking: 0.4, theta: -0.1 },
};
/** A first token without any thinking, at most. */
const PROMPT_TTFT_MS = 1500;

/** Cells may be quoted; none of the tables has a quote inside one. */
const CELL = /(?:^|,)(?:"([^"]*)"|([^",]*))/g;

const folder = process.argv[2] ?? join(import.meta.dirname, '../../../shared/data/catalog');
const target = join(import.meta.dirname, '../catalog.json');
const snapshot = buildSnapshot(folder);
parseCatalog(snapshot);
writeFileSync(target, `${renderSnapshot(snapshot)}\n`);
process.stdout.write(`${target}: ${snapshot.models.length} models\n`);

function buildSnapshot(from: string) {
  const tables = readTables(from);
  const ids = readFileSync(join(from, 'recommended_ids.txt'), 'utf8').split('\n').filter(Boolean).sort();
  return {
    snapshot_date: '2026-10-10',
    note:
      'Abilities are our own estimates, derived from many public benchmarks; no third party table is included. ' +
      'Prices are a stale fallback for an upstream that lists none. Made by config/build/catalog.ts.',
    models: ids.flatMap((id) => modelOf(id, tables) ?? []),
  };
}

/** One model a line: a refresh then reads well as a diff. */
function renderSnapshot(snapshot: ReturnType<typeof buildSnapshot>): string {
  const { models, ...head } = snapshot;
  const lines = models.map((model) => JSON.stringify(model));
  return `${JSON.stringify(head, null, 1).slice(0, -2)},\n "models": [\n${lines.join(',\n')}\n]}`;
}

function modelOf(id: string, tables: Tables) {
  const row = tables.listed.get(id);
  const priors = tables.priors.get(id);
  if (!row || !priors) throw new Error(`${id} is recommended but not in the tables`);
  const { input, output, cache_read: read, cache_write: write } = row.price_per_1m_usd;
  if (row.special_purpose || row.is_free || input === null || output === null) return undefined;
  const like = relatedTo(row, tables);
  // A limit equal to the whole context is the absence of one.
  const cap = row.max_output_tokens !== null && row.max_output_tokens < row.context_length ? row.max_output_tokens : 0;
  return {
    id,
    name: row.name,
    context_length: row.context_length,
    ...(cap > 0 ? { max_output_tokens: cap } : {}),
    input_modalities: row.input_modalities,
    supported_parameters: row.supported_parameters,
    pricing: {
      prompt: perToken(input),
      completion: perToken(output),
      ...(read === null ? {} : { input_cache_read: perToken(read) }),
      ...(write === null ? {} : { input_cache_write: perToken(write) }),
    },
    abilities: abilitiesOf(priors, effortLoss(like, tables), row.input_modalities.includes('image')),
    ...speedOf(id, like, tables),
    created: row.created,
  };
}

/** The model itself, then those it inherits from: the first with a figure speaks for it. */
function relatedTo(row: ListedRow, tables: Tables): readonly string[] {
  const chain = [row.id];
  for (const next of [row.inherits_quality_from, row.inferred_from ?? null]) {
    if (next === null) continue;
    chain.push(next);
    const further = tables.listed.get(next)?.inherits_quality_from;
    if (further) chain.push(further);
  }
  return chain;
}

function abilitiesOf(priors: ReadonlyMap<string, Prior>, loss: number, vision: boolean): Record<string, number> {
  const abilities: Record<string, number> = {};
  for (const [task, mixture] of Object.entries(MIXTURES)) {
    if (task === 'vision' && !vision) continue;
    abilities[task] = abilityOf(mix(priors, mixture), THINKING_TASKS.has(task) ? loss : loss / 2);
  }
  return abilities;
}

function abilityOf(theta: number, loss: number): number {
  return Math.round(1000 / (1 + Math.exp(-(CENTRE + SLOPE * (theta + loss))))) / 1000;
}

function mix(priors: ReadonlyMap<string, Prior>, mixture: Readonly<Record<string, number>>): number {
  let sum = 0;
  let weights = 0;
  for (const [task, weight] of Object.entries(mixture)) {
    const prior = priors.get(task);
    if (!prior || (task === 'faithfulness' && !prior.measured)) continue;
    sum += weight * prior.theta;
    weights += weight;
  }
  return weights > 0 ? sum / weights : (priors.get('general')?.theta ?? 0);
}

/** What theta loses from the best effort measured to the effort of a caller who sets none; 0 or below. */
function effortLoss(like: readonly string[], tables: Tables): number {
  for (const id of like) {
    const deltas = tables.efforts.get(id);
    const variant = tables.speeds.get(id)?.['variant'] ?? (deltas?.has('medium') ? 'medium' : 'none');
    const known = deltas?.get(variant);
    if (known !== undefined) return known + (TO_DEFAULT[variant]?.theta ?? 0);
    if (tables.speeds.has(id)) return TO_DEFAULT[variant]?.theta ?? 0;
  }
  return 0;
}

function speedOf(id: string, like: readonly string[], tables: Tables) {
  // A "-pro" tier thinks several times over: its base's speed says nothing of it.
  const source = id.endsWith('-pro') ? like.slice(0, 1) : like;
  const row = source.map((each) => tables.speeds.get(each)).find((found) => found !== undefined);
  if (!row) return {};
  const ttft = Number(row['ttfat_ms'] || row['ttft_ms']);
  const rate = Number(row['tokens_per_second']);
  if (!(ttft > 0 && rate > 0)) return {};
  const prompt = Math.min(ttft, PROMPT_TTFT_MS);
  const thinking = (ttft - prompt) * (TO_DEFAULT[row['variant'] ?? '']?.thinking ?? 1);
  return { tokens_per_second: twoDigits(rate), ttft_ms: twoDigits(prompt + thinking) };
}

function twoDigits(value: number): number {
  return Number(value.toPrecision(2));
}

/** USD per million tokens to USD per token, by moving the decimal point. */
function perToken(perMillion: number): string {
  const [whole = '0', fraction = ''] = String(perMillion).split('.');
  if (String(perMillion).includes('e')) throw new Error(`${perMillion} needs an exponent`);
  const digits = (whole + fraction).padStart(7 + fraction.length, '0');
  const point = digits.length - fraction.length - 6;
  const text = `${digits.slice(0, point)}.${digits.slice(point)}`.replace(/\.?0+$/, '').replace(/^0+(?=\d)/, '');
  return text === '' ? '0' : text;
}

function readTables(from: string): Tables {
  const listed = ['catalog.json', 'catalog_overlay.json'].flatMap((file): ListedRow[] =>
    JSON.parse(readFileSync(join(from, file), 'utf8')),
  );
  const priors = new Map<string, Map<string, Prior>>();
  for (const row of readCsv(join(from, 'priors.csv'))) {
    const measured = row['method'] === 'measured' || row['method'] === 'inherited';
    put(priors, row['model_id'], row['task'], { theta: Number(row['theta']), measured });
  }
  const efforts = new Map<string, Map<string, number>>();
  for (const row of readCsv(join(from, 'effort.csv'))) {
    put(efforts, row['model_id'], row['effort'], Number(row['delta_theta']));
  }
  const defaults = readCsv(join(from, 'speed.csv')).filter((row) => row['is_default'] === '1');
  return {
    listed: new Map(listed.map((row) => [row.id, row])),
    priors,
    efforts,
    speeds: new Map(defaults.map((row) => [row['model_id'] ?? '', row])),
  };
}

function put<T>(table: Map<string, Map<string, T>>, row = '', column = '', value: T): void {
  const cells = table.get(row) ?? new Map<string, T>();
  cells.set(column, value);
  table.set(row, cells);
}

function readCsv(path: string): readonly Row[] {
  const [head = '', ...lines] = readFileSync(path, 'utf8').trimEnd().split(/\r?\n/);
  const columns = head.split(',');
  return lines.map((line) => {
    const cells = Array.from(line.matchAll(CELL), ([, quoted, plain]) => quoted ?? plain ?? '');
    if (cells.length !== columns.length) throw new Error(`${path}: ${cells.length} cells in ${line.slice(0, 80)}`);
    return Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? '']));
  });
}
