// What a client's file becomes when svc's settings are put into it; everything else in it stays.

import { CliError } from './cli-error.ts';
import type { ClientContent, JsonRecord } from './client-setup.ts';
import { EXIT } from './exit-codes.ts';

/** `current` is undefined where there is no file. Throws `CliError` where the file can't be changed safely. */
export function changeClientFile(current: string | undefined, content: ClientContent, path: string): string {
  if (content.kind === 'json') return mergeJson(current, content.fields, path);
  const { head, block, taken, takenBy } = content;
  if (current === undefined || current.trim() === '') return `${head}${block}`;
  if (current.replaceAll('\r\n', '\n').includes(block.trimEnd())) return current;
  if (taken.test(current)) throw refusal(`${path} has ${takenBy}`);
  return `${current}${current.endsWith('\n') ? '' : '\n'}\n${block}`;
}

function mergeJson(current: string | undefined, fields: JsonRecord, path: string): string {
  if (current === undefined || current.trim() === '') return `${JSON.stringify(fields, null, 2)}\n`;
  const parsed = parseObject(current, path);
  const merged = mergeFields(parsed, fields, path);
  // Formatting is kept where nothing changes.
  if (JSON.stringify(merged) === JSON.stringify(parsed)) return current;
  const indent = /^\{\r?\n([ \t]+)"/.exec(current)?.[1] ?? '  ';
  return `${JSON.stringify(merged, null, indent)}\n`;
}

function mergeFields(current: JsonRecord, fields: JsonRecord, path: string): JsonRecord {
  // Assigned one by one, a field called __proto__ would not stay a field.
  const merged = new Map(Object.entries(current));
  for (const [name, value] of Object.entries(fields)) merged.set(name, mergeValue(merged.get(name), value, path, name));
  return Object.fromEntries(merged);
}

function mergeValue(current: unknown, value: unknown, path: string, name: string): unknown {
  if (current === undefined) return value;
  if (isRecord(value)) {
    if (!isRecord(current)) throw refusal(`"${name}" in ${path} is not an object`);
    return mergeFields(current, value, path);
  }
  if (Array.isArray(value)) {
    if (!Array.isArray(current)) throw refusal(`"${name}" in ${path} is not a list`);
    return mergeList(current, value);
  }
  return value;
}

/** An entry takes the place of the one with its `id`. */
function mergeList(current: readonly unknown[], added: readonly unknown[]): readonly unknown[] {
  const merged = [...current];
  for (const entry of added) {
    const at = merged.findIndex((old) => isRecord(old) && isRecord(entry) && old['id'] === entry['id']);
    if (at === -1) merged.push(entry);
    else merged[at] = entry;
  }
  return merged;
}

function parseObject(text: string, path: string): JsonRecord {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refusal(`${path} is not plain JSON`);
  }
  if (!isRecord(value)) throw refusal(`${path} does not hold a JSON object`);
  return value;
}

function refusal(what: string): CliError {
  const hint = 'add the lines by hand: the same command without --write and --dry-run prints them';
  return new CliError('FILE_NOT_CHANGED', EXIT.failed, `${what}; it was left as it is`, hint);
}

function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
