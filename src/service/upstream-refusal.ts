// An upstream's refusal, read: whose fault it is, and the upstream's own words kept for the client.

import type { UpstreamFailure } from '../upstream/upstream.ts';
import type { Dialect } from '../wire/neutral.ts';
import { SvcError } from '../wire/svc-error.ts';
import { redact } from './redact.ts';

const WORDS_MAX = 2000;
const RETRY_AFTER_SECONDS_MAX = 3600;
const CUT_WORDS = /could not finish the message because max_tokens/i;
const CONTEXT_WORDS = /context.{0,20}(length|window|limit)|prompt is too long|maximum context|too many tokens/i;

/**
 * Never holds a credential: an upstream 401 or 403 is the operator's, and other words have what looks like one, and
 * `secrets` wherever they stand, taken out. What a 2xx holds is an answer and never quoted.
 */
export function upstreamRefusal(
  status: number,
  body: Uint8Array,
  headers: Readonly<Record<string, string>>,
  secrets: readonly string[] = [],
): SvcError {
  const said = status >= 200 && status <= 299 ? undefined : wordsOf(body);
  const words = said ? redact(said, secrets).slice(0, WORDS_MAX) : `The upstream answered with status ${status}.`;
  if (status === 401 || status === 403) {
    return operatorsFault(status, words, "The upstream refused svc's own credential; the operator has to mend it.");
  }
  if (status === 402) {
    return operatorsFault(
      status,
      words,
      "svc's account at the upstream is out of credits; the operator has to mend it.",
    );
  }
  if (status === 429) return new SvcError('UPSTREAM_RATE_LIMITED', words, retryAfter(headers));
  if (status === 408 || status === 504 || status === 524) return new SvcError('UPSTREAM_TIMEOUT', words);
  if (status === 413) return new SvcError('REQUEST_TOO_LARGE', words);
  if (status === 404) return new SvcError('INVALID_MODEL', words, { param: 'model' });
  if (status >= 400 && status < 500) {
    return new SvcError(CONTEXT_WORDS.test(words) ? 'CONTEXT_LENGTH_EXCEEDED' : 'INVALID_REQUEST', words);
  }
  return new SvcError('UPSTREAM_ERROR', words, { ...retryAfter(headers), overloaded: isOverloaded(status) });
}

function isOverloaded(status: number): boolean {
  return status === 503 || status === 529;
}

/** A failure below HTTP. Where the upstream stands is for the log alone, as `cause.upstreamFailure`. */
export function upstreamFailed({ code, message, cause }: UpstreamFailure): SvcError {
  const noted = Object.assign(new Error(message, { cause }), { upstreamFailure: message });
  return new SvcError(code, message.replace(/\bupstream at \S+/, 'upstream').replace('?.', '?'), { cause: noted });
}

/**
 * For Messages callers: the whole Chat answer, or its stream, that a refusal stands for which says that `max_tokens` ran
 * out before the first word. Clients that probe with very few tokens expect an answer cut short. Without usage: the
 * upstream says none.
 */
export function answerCutShort(
  call: { readonly dialect: Dialect; readonly path: string; readonly stream: boolean },
  status: number,
  body: Uint8Array,
): Buffer | undefined {
  if (call.dialect !== 'messages' || !call.path.endsWith('/chat/completions') || status !== 400) return undefined;
  if (!CUT_WORDS.test(wordsOf(body) ?? '')) return undefined;
  const said = { role: 'assistant', content: '' };
  const choice = { index: 0, finish_reason: 'length', ...(call.stream ? { delta: said } : { message: said }) };
  const text = JSON.stringify({ choices: [choice] });
  return Buffer.from(call.stream ? `data: ${text}\n\ndata: [DONE]\n\n` : text);
}

/** `cause.upstreamStatus` is for the log. */
function operatorsFault(upstreamStatus: number, words: string, message: string): SvcError {
  const cause = Object.assign(new Error(`upstream ${upstreamStatus}: ${words}`), { upstreamStatus });
  return new SvcError('UPSTREAM_ERROR', message, { cause });
}

/** Cut a little late, so that no credential is cut in half before it is looked for. */
function wordsOf(body: Uint8Array): string | undefined {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8').trim();
  try {
    return messageIn(JSON.parse(text))?.slice(0, 2 * WORDS_MAX);
  } catch {
    // Not JSON: an HTML page says nothing a client could use, a short plain text may.
    return text === '' || text.startsWith('<') ? undefined : text.slice(0, 300);
  }
}

function messageIn(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return undefined;
  // A list of complaints about fields: the first says enough.
  if (Array.isArray(value)) return messageIn(value[0]);
  const fields = new Map(Object.entries(value));
  const metadata = fields.get('metadata');
  const raw = typeof metadata === 'object' && metadata !== null && 'raw' in metadata ? metadata.raw : undefined;
  const cause = typeof raw === 'string' && raw !== '' ? messageOfRaw(raw) : messageIn(raw);
  if (cause) return cause;
  for (const place of PLACES) {
    const words = messageIn(fields.get(place));
    if (words) return words;
  }
  return undefined;
}

const PLACES = ['error', 'message', 'detail', 'errors', 'msg'] as const;

/** OpenRouter puts the provider's own body, as text, into `metadata.raw`. */
function messageOfRaw(raw: string): string {
  try {
    return messageIn(JSON.parse(raw)) ?? raw;
  } catch {
    return raw;
  }
}

function retryAfter(headers: Readonly<Record<string, string>>): { retryAfterSeconds?: number } {
  const seconds = secondsIn(headers);
  return Number.isFinite(seconds) && seconds >= 0
    ? { retryAfterSeconds: Math.min(RETRY_AFTER_SECONDS_MAX, Math.ceil(seconds)) }
    : {};
}

/** NaN where none is said. A time is measured from the upstream's own clock, as its answer shows it. */
function secondsIn(headers: Readonly<Record<string, string>>): number {
  const { 'retry-after-ms': ms, 'retry-after': after = '', date = '' } = headers;
  if (ms !== undefined && Number.isFinite(Number(ms))) return Number(ms) / 1000;
  return Number.isNaN(Number(after)) ? (Date.parse(after) - Date.parse(date)) / 1000 : Number(after || Number.NaN);
}
