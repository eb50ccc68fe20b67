// The faults that come before an answer or in place of it.

import type { ServerResponse } from 'node:http';
import type { SandboxControls } from './sandbox-faults.ts';
import { renderError, sendJson } from './sandbox-http.ts';
import { pause, untilGone } from './stream-pace.ts';

const DEFAULT_DELAY_MS = 1000;

/** True where nothing more is to be said: the fault took the answer's place, or the caller has gone. */
export async function failBeforeAnswer(
  res: ServerResponse,
  stream: boolean,
  controls: SandboxControls,
  gone: AbortSignal,
): Promise<boolean> {
  const atOnce = controls.afterChunks === 0 || !stream;
  switch (controls.fail) {
    case 'status':
      sendStatus(res, controls);
      return true;
    case 'error_200':
      sendJson(res, 200, JSON.stringify(renderError(502, controls.message)));
      return true;
    case 'html':
      res.writeHead(200, { 'content-type': 'text/html' }).end(renderPage(controls.message));
      return true;
    case 'empty':
      res.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' }).end();
      return true;
    case 'reset':
      if (atOnce) res.socket?.resetAndDestroy();
      return atOnce;
    case 'delay':
      await pause(controls.delayMs ?? DEFAULT_DELAY_MS, gone);
      return gone.aborted;
    case 'stall':
      if (atOnce) await stall(controls, gone);
      return gone.aborted;
    default:
      return false;
  }
}

/** Silence for `delay_ms`, or until the caller has gone. */
export function stall({ delayMs }: SandboxControls, gone: AbortSignal): Promise<void> {
  return delayMs === undefined ? untilGone(gone) : pause(delayMs, gone);
}

function sendStatus(res: ServerResponse, { status, message, retryAfter }: SandboxControls): void {
  const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
  sendJson(res, status, JSON.stringify(renderError(status, message)), headers);
}

function renderPage(message: string): string {
  const text = message.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<!doctype html><title>Sandbox</title><p>${text}</p>`;
}
