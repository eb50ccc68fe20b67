// Sends an answer as server-sent events, at its pace, never faster than the caller reads, with the fault asked for.

import type { ServerResponse } from 'node:http';
import {
  type Delta,
  DONE_EVENT,
  renderChunk,
  renderErrorChunk,
  renderUsageChunk,
  toDeltas,
} from './completion-json.ts';
import type { Delivery } from './delivery.ts';
import { stall } from './fail-before-answer.ts';
import { pause } from './stream-pace.ts';

/** Resolves once everything is sent or the caller has gone. */
export async function sendStream(delivery: Delivery): Promise<void> {
  const { res, gone, head, answer, pace, controls } = delivery;
  const deltas = toDeltas(answer);
  const faultAt = Math.min(controls.afterChunks, deltas.length);
  await pause(pace.firstTokenMs, gone);
  if (gone.aborted) return;
  res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  for (const [at, delta] of deltas.entries()) {
    if (at === faultAt && !(await playFault(delivery))) return;
    // The first words were written during the first wait.
    if (at > 0) await pause(delta.tokens * pace.msPerToken, gone);
    if (!(await write(res, renderChunk(head, delta.delta, null), gone))) return;
  }
  if (faultAt === deltas.length && !(await playFault(delivery))) return;
  await write(res, lastEvents(delivery), gone);
  res.end();
}

function lastEvents({ head, answer, usage, includeUsage, controls }: Delivery): string {
  const finish = renderChunk(head, NOTHING, answer.finishReason);
  const counted = includeUsage && controls.fail !== 'no_usage' ? renderUsageChunk(head, usage) : '';
  return finish + counted + DONE_EVENT;
}

const NOTHING: Delta['delta'] = { content: '' };

/** True where the stream goes on after it. */
async function playFault({ res, gone, head, controls }: Delivery): Promise<boolean> {
  switch (controls.fail) {
    case 'stall':
      // After no chunk at all it came before the answer began.
      if (controls.afterChunks === 0) return true;
      await stall(controls, gone);
      return !gone.aborted;
    case 'reset':
      await flushed(res);
      res.socket?.resetAndDestroy();
      return false;
    case 'truncate':
      res.end();
      return false;
    case 'error_event':
      res.end(renderErrorChunk(head, controls.message));
      return false;
    case 'broken_sse':
      return write(res, `data: {"id":"${head.id}","choices":[{"del\n\n`, gone);
    default:
      return true;
  }
}

/** Resolves with false where the caller has gone; waits while it does not read. */
async function write(res: ServerResponse, text: string, gone: AbortSignal): Promise<boolean> {
  if (gone.aborted) return false;
  if (res.write(text)) return true;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      res.off('drain', done);
      gone.removeEventListener('abort', done);
      resolve();
    };
    res.on('drain', done);
    gone.addEventListener('abort', done);
  });
  return !gone.aborted;
}

/** A reset overtakes what still waits in this process. */
function flushed(res: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    res.once('close', resolve);
    res.write(':\n\n', () => setImmediate(resolve));
  });
}
