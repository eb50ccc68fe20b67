// How the sandbox refuses and answers: OpenRouter's error body, JSON with a length.

import type { ServerResponse } from 'node:http';

/** Ends a request with `status` and `{"error": {"message", "code"}}`. */
export class SandboxRefusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export function renderError(status: number, message: string): { readonly error: Readonly<Record<string, unknown>> } {
  return { error: { message, code: status } };
}

export function sendRefusal(res: ServerResponse, error: unknown): void {
  if (res.headersSent || res.destroyed) {
    res.destroy();
    return;
  }
  const known = error instanceof SandboxRefusal;
  const status = known ? error.status : 500;
  const message = known ? error.message : 'The sandbox failed; this is a fault in svc.';
  sendJson(res, status, JSON.stringify(renderError(status, message)));
}

export function sendJson(
  res: ServerResponse,
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  res.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...headers });
  res.end(body);
}
