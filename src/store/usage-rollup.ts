// Sums of usage entries by group, kept per UTC day so that a range of whole days needs no look at single entries.

import { utcDay } from '../ledger/key-spend.ts';
import type { UsageEntry } from '../ledger/records.ts';
import type { UsageGroupBy, UsageSum } from './store.ts';

type MutableSum = { -readonly [Field in keyof UsageSum]: UsageSum[Field] };
/** Sums by the value entries are grouped by. */
export type GroupSums = Map<string, MutableSum>;

const MS_PER_DAY = 86_400_000;
/** The group of entries that have no value there: no virtual model, say. */
const NO_GROUP = '(none)';
const GROUP_BYS = ['day', 'model', 'key', 'task', 'virtual_model'] as const satisfies readonly UsageGroupBy[];

type DaySums = Readonly<Record<UsageGroupBy, GroupSums>>;

/** The rollups of one workspace. */
export class UsageRollup {
  readonly #days = new Map<number, DaySums>();

  add(entry: UsageEntry): void {
    const day = utcDay(entry.created_at);
    let sums = this.#days.get(day);
    if (sums === undefined) {
      sums = { day: new Map(), model: new Map(), key: new Map(), task: new Map(), virtual_model: new Map() };
      this.#days.set(day, sums);
    }
    for (const groupBy of GROUP_BYS) addEntry(sums[groupBy], groupBy, entry);
  }

  /** The sums over whole days from `fromMs` on and before `toMs`; both must be at the turn of a day, or absent. */
  sums(groupBy: UsageGroupBy, fromMs: number | undefined, toMs: number | undefined): readonly UsageSum[] {
    const total: GroupSums = new Map();
    for (const [day, sums] of this.#days) {
      if (fromMs !== undefined && day * MS_PER_DAY < fromMs) continue;
      if (toMs !== undefined && day * MS_PER_DAY >= toMs) continue;
      for (const sum of sums[groupBy].values()) addSum(total, sum);
    }
    return renderSums(total, groupBy);
  }
}

export function isTurnOfDay(ms: number | undefined): boolean {
  return ms === undefined || ms % MS_PER_DAY === 0;
}

export function addEntry(sums: GroupSums, groupBy: UsageGroupBy, entry: UsageEntry): void {
  const sum = sumOf(sums, groupOf(groupBy, entry));
  sum.requests += 1;
  if (entry.status >= 400) sum.errors += 1;
  sum.inputTokens += entry.input_tokens;
  sum.cachedTokens += entry.cached_tokens;
  sum.outputTokens += entry.output_tokens;
  sum.costNano += entry.cost;
}

/** Days in order; other groups with the dearest first. Copies. */
export function renderSums(sums: GroupSums, groupBy: UsageGroupBy): readonly UsageSum[] {
  const rows = Array.from(sums.values(), (sum) => ({ ...sum }));
  if (groupBy === 'day') return rows.sort((a, b) => compareText(a.group, b.group));
  return rows.sort((a, b) => b.costNano - a.costNano || b.requests - a.requests || compareText(a.group, b.group));
}

function addSum(sums: GroupSums, added: UsageSum): void {
  const sum = sumOf(sums, added.group);
  sum.requests += added.requests;
  sum.errors += added.errors;
  sum.inputTokens += added.inputTokens;
  sum.cachedTokens += added.cachedTokens;
  sum.outputTokens += added.outputTokens;
  sum.costNano += added.costNano;
}

function sumOf(sums: GroupSums, group: string): MutableSum {
  const known = sums.get(group);
  if (known !== undefined) return known;
  const sum = { group, requests: 0, errors: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0, costNano: 0 };
  sums.set(group, sum);
  return sum;
}

function groupOf(groupBy: UsageGroupBy, entry: UsageEntry): string {
  switch (groupBy) {
    case 'day':
      return dayText(utcDay(entry.created_at));
    case 'model':
      return entry.model ?? NO_GROUP;
    case 'key':
      return entry.api_key_id;
    case 'task':
      return entry.task_type ?? NO_GROUP;
    case 'virtual_model':
      return entry.virtual_model ?? NO_GROUP;
  }
}

function dayText(day: number): string {
  return new Date(day * MS_PER_DAY).toISOString().slice(0, 10);
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
