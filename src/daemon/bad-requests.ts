// Answers what never becomes a request (no HTTP, heads too large, CONNECT, strange expectations) with the contract's error body.

import type { Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { renderError } from '../wire/render-error.ts';
import { SvcError } from '../wire/svc-error.ts';

/** How long a client may take to read the answer before its connection is cut. */
const LINGER_MS = 2000;

type Refusal = { readonly status: number; readonly reason: string; readonly error: SvcError };

export function answerBadRequests(server: Server): void {
  // By connection, the answer under way: nothing may be put into the middle of it.
  const answers = new WeakMap<Duplex, ServerResponse>();
  server.prependListener('request', (req, res) => void answers.set(req.socket, res));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const answer = answers.get(socket);
    const amid = answer?.headersSent === true && !answer.writableFinished;
    if (socket.writableEnded) return;
    if (error.code === 'ECONNRESET' || !socket.writable || amid) socket.destroy();
    else sendRaw(socket, refusalOf(error.code));
  });
  server.on('connect', (_req, socket) => {
    socket.on('error', () => socket.destroy());
    const error = new SvcError('METHOD_NOT_ALLOWED', 'This is no proxy: CONNECT is not taken.');
    sendRaw(socket, { status: 405, reason: 'Method Not Allowed', error });
  });
  server.on('checkExpectation', (_req, res) => {
    const error = new SvcError('INVALID_REQUEST', 'The only Expect taken is 100-continue.');
    const body = bodyOf(error);
    res.writeHead(400, headersOf(error, body)).end(body);
  });
}

function refusalOf(code: string | undefined): Refusal {
  if (code === 'HPE_HEADER_OVERFLOW') {
    const error = new SvcError('REQUEST_TOO_LARGE', 'The head of the request is over 16 KiB: send fewer headers.');
    return { status: 431, reason: 'Request Header Fields Too Large', error };
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    const error = new SvcError('INVALID_REQUEST', 'The request did not come whole in time.');
    return { status: 408, reason: 'Request Timeout', error };
  }
  const error = new SvcError('INVALID_REQUEST', 'This is not a valid HTTP request.');
  return { status: 400, reason: 'Bad Request', error };
}

function sendRaw(socket: Duplex, { status, reason, error }: Refusal): void {
  const body = bodyOf(error);
  const headers = Object.entries(headersOf(error, body)).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${reason}\r\n${headers.join('')}\r\n${body}`);
  // What still arrives is read and dropped: a close over unread bytes is a reset, which may take the answer with it.
  socket.resume();
  const linger = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(linger));
}

function headersOf(error: SvcError, body: string): Record<string, string> {
  return {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'x-should-retry': String(error.retryable),
    ...(error.status === 405 ? { allow: 'GET, POST, PUT, PATCH, DELETE' } : {}),
    connection: 'close',
  };
}

/** Without a request id: there was no request to give one to. */
function bodyOf(error: SvcError): string {
  const { type, error: detail } = renderError(error, '') as { type: unknown; error: unknown };
  return JSON.stringify({ type, error: detail });
}
