// The faults the sandbox plays on demand, as the `sandbox` field of a request asks for them.

import { isJsonRecord, type JsonRecord } from './json-record.ts';
import { SandboxRefusal } from './sandbox-http.ts';

/** Every value of `sandbox.fail` and what it does; the README's table is tested against this one. */
export const SANDBOX_FAULTS = [
  { name: 'status', does: 'answers `status` (500) with an error body; `retry_after` becomes the header' },
  { name: 'delay', does: 'waits `delay_ms` (1000) before the answer begins' },
  {
    name: 'stall',
    does: 'falls silent after `after_chunks` (1) chunks, for `delay_ms` or for ever; 0, or without a stream: before the answer begins',
  },
  {
    name: 'reset',
    does: 'resets the connection after `after_chunks` (1) chunks; 0, or without a stream: before the answer begins',
  },
  {
    name: 'truncate',
    does: 'ends the stream after `after_chunks` (1) chunks without a finish reason; without a stream: half the JSON',
  },
  {
    name: 'broken_sse',
    does: 'sends an event that is no JSON after `after_chunks` (1) chunks, then goes on; without a stream: text instead of JSON',
  },
  {
    name: 'error_event',
    does: 'ends the stream after `after_chunks` (1) chunks with an error event; without a stream: an error inside the choice',
  },
  { name: 'html', does: 'answers 200 with a web page' },
  { name: 'empty', does: 'answers 200 with nothing' },
  { name: 'error_200', does: 'answers 200 with an error body' },
  { name: 'no_usage', does: 'answers well, but leaves usage out' },
] as const satisfies readonly { readonly name: string; readonly does: string }[];

type FaultName = (typeof SANDBOX_FAULTS)[number]['name'];

export type SandboxControls = {
  readonly fail: FaultName | undefined;
  readonly status: number;
  readonly afterChunks: number;
  readonly delayMs: number | undefined;
  readonly retryAfter: string | undefined;
  readonly message: string;
  /** Overrides the sandbox's pace: 1 is believable, 0 at once. */
  readonly pace: number | undefined;
};

const FIELDS = ['fail', 'status', 'after_chunks', 'delay_ms', 'retry_after', 'message', 'pace'];
const MAX_DELAY_MS = 600_000;
const MAX_PACE = 10;

/** Reads the `sandbox` field; a 400 names what is wrong with it. */
export function parseSandboxControls(value: unknown): SandboxControls {
  const field = value ?? {};
  if (!isJsonRecord(field)) throw new SandboxRefusal(400, '`sandbox` must be an object.');
  const unknown = Object.keys(field).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined) {
    throw new SandboxRefusal(400, `\`sandbox.${unknown}\` is not known; there are ${FIELDS.join(', ')}.`);
  }
  return {
    fail: faultName(field['fail']),
    status: number(field, 'status', 400, 599, true) ?? 500,
    afterChunks: number(field, 'after_chunks', 0, 1000, true) ?? 1,
    delayMs: number(field, 'delay_ms', 0, MAX_DELAY_MS, false),
    retryAfter: retryAfter(field['retry_after']),
    message: message(field['message']),
    pace: number(field, 'pace', 0, MAX_PACE, false),
  };
}

function faultName(value: unknown): FaultName | undefined {
  if (value === undefined || value === null) return undefined;
  const fault = SANDBOX_FAULTS.find(({ name }) => name === value);
  if (fault !== undefined) return fault.name;
  const names = SANDBOX_FAULTS.map(({ name }) => name).join(', ');
  throw new SandboxRefusal(400, `\`sandbox.fail\` must be one of ${names}.`);
}

function number(field: JsonRecord, name: string, min: number, max: number, whole: boolean): number | undefined {
  const value = field[name];
  if (value === undefined || value === null) return undefined;
  const fits = typeof value === 'number' && value >= min && value <= max && (!whole || Number.isInteger(value));
  if (fits) return value;
  const kind = whole ? 'a whole number' : 'a number';
  throw new SandboxRefusal(400, `\`sandbox.${name}\` must be ${kind} from ${min} to ${max}.`);
}

/** Seconds or a date, and nonsense too: it is there to see what a client makes of it. */
function retryAfter(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string' && /^[\x20-\x7e]{1,100}$/.test(value)) return value;
  throw new SandboxRefusal(400, '`sandbox.retry_after` must be a number of seconds or a short text.');
}

function message(value: unknown): string {
  if (value === undefined || value === null) return 'The sandbox was told to fail.';
  if (typeof value === 'string' && value.length <= 1000) return value;
  throw new SandboxRefusal(400, '`sandbox.message` must be a text of at most 1000 characters.');
}
