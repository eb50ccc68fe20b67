// How long the sandbox takes: the model's own speed from the catalogue, within limits a person will sit through.

import { setTimeout as sleep } from 'node:timers/promises';
import type { SandboxModel } from './sandbox-models.ts';

export type Pace = { readonly firstTokenMs: number; readonly msPerToken: number };

const MAX_FIRST_TOKEN_MS = 2000;
const MAX_WHOLE_ANSWER_MS = 3000;
/** No slower than 20 tokens a second. */
const MAX_MS_PER_TOKEN = 50;
/** A wait shorter than this is not worth a timer. */
const MIN_PAUSE_MS = 1;

export function paceOf(model: SandboxModel, scale: number): Pace {
  return {
    firstTokenMs: Math.min(model.ttftMs * scale, MAX_FIRST_TOKEN_MS),
    msPerToken: Math.min((1000 / model.tokensPerSecond) * scale, MAX_MS_PER_TOKEN * Math.max(scale, 1)),
  };
}

/** An answer that does not stream comes after all of it was "written", but never later than 3 s. */
export function wholeAnswerMs(pace: Pace, tokens: number): number {
  return Math.min(pace.firstTokenMs + tokens * pace.msPerToken, MAX_WHOLE_ANSWER_MS);
}

/** Resolves after `ms`, or as soon as the caller has gone. */
export async function pause(ms: number, gone: AbortSignal): Promise<void> {
  if (ms < MIN_PAUSE_MS || gone.aborted) return;
  await sleep(ms, undefined, { signal: gone }).catch(() => undefined);
}

/** Resolves once the caller has gone. */
export function untilGone(gone: AbortSignal): Promise<void> {
  if (gone.aborted) return Promise.resolve();
  return new Promise((resolve) => gone.addEventListener('abort', () => resolve(), { once: true }));
}
