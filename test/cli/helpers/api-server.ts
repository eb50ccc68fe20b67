// A small HTTP server that speaks the daemon's API from a script of answers, and remembers what it was asked.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Asked = {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
};
export type Answer = {
  readonly status?: number;
  readonly body?: unknown;
  /** Sent as it is, instead of `body`. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
};
export type Answers = Readonly<Record<string, Answer | ((asked: Asked) => Answer)>>;

export type ApiServer = {
  readonly url: string;
  readonly asked: readonly Asked[];
  readonly close: () => Promise<void>;
};

/** `answers` by `METHOD /path`; anything else gets svc's own 404. */
export async function startApiServer(answers: Answers): Promise<ApiServer> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    readAsked(request).then((call) => {
      asked.push(call);
      const answer = answers[`${call.method} ${call.path}`] ?? apiError(404, 'NOT_FOUND', 'no such route');
      send(response, typeof answer === 'function' ? answer(call) : answer);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

export function apiError(status: number, code: string, message: string, headers: Record<string, string> = {}): Answer {
  return { status, headers, body: { error: { code, message, retryable: status === 429 || status >= 500 } } };
}

/** A list as the API gives it. */
export function apiList(data: readonly unknown[], nextCursor: string | null = null): Answer {
  return { body: { object: 'list', data, has_more: nextCursor !== null, next_cursor: nextCursor } };
}

async function readAsked(request: IncomingMessage): Promise<Asked> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  const url = new URL(request.url ?? '/', 'http://localhost');
  return {
    method: request.method ?? '',
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: request.headers,
    body: text === '' ? undefined : JSON.parse(text),
  };
}

function send(response: ServerResponse, answer: Answer): void {
  const text = answer.text ?? (answer.body === undefined ? '' : JSON.stringify(answer.body));
  response.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...answer.headers });
  response.end(text);
}
