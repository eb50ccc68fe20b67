// Reads what the classifier learns from: hand-written prompts first, public benchmark prompts beside them.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import {
  COMPLEXITIES,
  type Complexity,
  DOMAINS,
  type Domain,
  TASK_TYPES,
  type TaskType,
} from '../../src/routing/decision.ts';
import type { ContentPart, NeutralMessage, NeutralRequest, NeutralTool } from '../../src/wire/neutral.ts';

/** One prompt with what is known about it; a label that is missing teaches nothing. */
export type Example = {
  readonly request: NeutralRequest;
  readonly task?: TaskType;
  readonly domain?: Domain;
  /** 0 to 1. */
  readonly difficulty?: number;
  readonly complexity?: Complexity;
  readonly lang: string;
  /** The batch file of a hand-written prompt; empty for a benchmark's. */
  readonly batch: string;
};

type Row = Readonly<Record<string, unknown>>;

const DIFFICULTY_OF: Readonly<Record<Complexity, number>> = { simple: 0.12, medium: 0.5, complex: 0.88 };

/** The prompts of `config/corpus`; throws an Error that names file and line of a broken one. */
export function readCorpus(folder: string): Example[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
  return files.sort().flatMap((name) =>
    readFileSync(join(folder, name), 'utf8')
      .split('\n')
      .flatMap((line, index) => (line.trim() === '' ? [] : [parseCorpusLine(line, name, `${name}:${index + 1}`)])),
  );
}

/** One line of a corpus file, described in `config/corpus/README.md`. */
export function parseCorpusLine(line: string, batch: string, place: string): Example {
  const row = JSON.parse(line) as Row;
  const task = oneOf(TASK_TYPES, row['task_type'], place);
  const domain = oneOf(DOMAINS, row['domain'], place);
  const complexity = oneOf(COMPLEXITIES, row['complexity'], place);
  const request = toRequest(row, place);
  const lang = typeof row['lang'] === 'string' ? row['lang'] : 'en';
  return {
    request,
    task,
    domain,
    complexity,
    difficulty: DIFFICULTY_OF[complexity],
    lang,
    batch,
  };
}

/** A plain single-turn request, as most prompts are. */
export function promptRequest(prompt: string): NeutralRequest {
  return requestOf([{ role: 'user', content: [{ type: 'text', text: prompt }] }], []);
}

export function readGzipLines(path: string): Row[] {
  const text = gunzipSync(readFileSync(path)).toString('utf8');
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Row]));
}

function requestOf(messages: readonly NeutralMessage[], tools: readonly NeutralTool[]): NeutralRequest {
  return {
    dialect: 'chat',
    model: 'svc:auto',
    messages,
    tools,
    stream: false,
    includeUsage: false,
    choices: 1,
  };
}

function toRequest(row: Row, place: string): NeutralRequest {
  const tools = Array.isArray(row['tools']) ? row['tools'].map(toTool) : [];
  if (typeof row['prompt'] === 'string') {
    const content: ContentPart[] = [{ type: 'text', text: row['prompt'] }];
    if (row['image'] === true) content.unshift({ type: 'image', mediaType: 'image/png', data: 'AAAA' });
    return requestOf([...systemOf(row), { role: 'user', content }], tools);
  }
  if (!Array.isArray(row['messages'])) throw new Error(`${place}: neither prompt nor messages`);
  return requestOf([...systemOf(row), ...row['messages'].map((message) => toMessage(message as Row, place))], tools);
}

function systemOf(row: Row): NeutralMessage[] {
  if (typeof row['system'] !== 'string') return [];
  return [{ role: 'system', content: [{ type: 'text', text: row['system'] }] }];
}

/** Tools are written as `"name: what it does"`. */
function toTool(value: unknown): NeutralTool {
  const [name = '', ...rest] = String(value).split(': ');
  return { name, description: rest.join(': ') };
}

/** Messages are written short: role, text, `image: true`, and `call` for an assistant's tool call. */
function toMessage(row: Row, place: string): NeutralMessage {
  const text = typeof row['text'] === 'string' ? row['text'] : '';
  const content: ContentPart[] = text === '' ? [] : [{ type: 'text', text }];
  if (row['image'] === true) content.unshift({ type: 'image', mediaType: 'image/png', data: 'AAAA' });
  if (row['role'] === 'user') return { role: 'user', content };
  if (row['role'] === 'tool') return { role: 'tool', toolCallId: 'call_1', isError: false, content };
  if (row['role'] !== 'assistant') throw new Error(`${place}: a message has no known role`);
  if (typeof row['call'] !== 'string') return { role: 'assistant', content };
  const call = { type: 'tool_call', id: 'call_1', name: row['call'], arguments: '{}' } as const;
  return { role: 'assistant', content: [...content, call] };
}

function oneOf<T extends string>(known: readonly T[], value: unknown, place: string): T {
  const found = known.find((item) => item === value);
  if (found === undefined) throw new Error(`${place}: ${JSON.stringify(value)} is none of ${known.join(', ')}`);
  return found;
}
