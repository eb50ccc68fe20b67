// Bodies of completions over a real socket: bounded alone and together, from the head until the answer is over.

import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { type BodyReader, createBodyReader } from '../../src/http/read-body.ts';
import { isSvcError } from '../../src/wire/svc-error.ts';

const opened: { server: Server; sockets: Socket[] }[] = [];

afterEach(async () => {
  for (const { server, sockets } of opened.splice(0)) {
    for (const socket of sockets) socket.destroy();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** What became of each body, in order: its text or the code it was refused with. Answers wait until they are ended. */
async function open(bodies: BodyReader) {
  const outcomes: string[] = [];
  const answers: ServerResponse[] = [];
  const server = createServer((req, res) => {
    answers.push(res);
    bodies.read(req, res).then(
      (body) => outcomes.push(body.toString()),
      (error) => outcomes.push(isSvcError(error) ? error.code : String(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const sockets: Socket[] = [];
  opened.push({ server, sockets });
  const send = (framing: string, body = ''): Socket => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(`POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${framing}\r\n\r\n${body}`);
    sockets.push(socket);
    return socket;
  };
  return { send, outcomes, answers };
}

const LENGTH = (bytes: number) => `content-length: ${bytes}`;
const CHUNKED = 'transfer-encoding: chunked';
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;

it('a declared length counts before any of it has come', async () => {
  const { send, outcomes, answers } = await open(createBodyReader({ bodyBytesMax: 10, bodiesBytesMax: 10 }));
  send(LENGTH(8));
  await expect.poll(() => answers.length).toBe(1);
  send(LENGTH(3), '{} ');
  await expect.poll(() => outcomes).toEqual(['OVERLOADED']);
});

it('a chunked body counts as it comes, and is refused at once', async () => {
  const { send, outcomes } = await open(createBodyReader({ bodyBytesMax: 10, bodiesBytesMax: 12 }));
  send(CHUNKED, `${chunk('12345678')}0\r\n\r\n`);
  await expect.poll(() => outcomes).toEqual(['12345678']);
  send(CHUNKED, chunk('1234') + chunk('5'));
  await expect.poll(() => outcomes).toEqual(['12345678', 'OVERLOADED']);
});

it.each([
  ['whole', (res: ServerResponse) => void res.end(), LENGTH(8), '12345678'],
  ['cut', (res: ServerResponse) => void res.destroy(), LENGTH(8), '12345678'],
  ['whole, after a chunked body', (res: ServerResponse) => void res.end(), CHUNKED, `${chunk('12345678')}0\r\n\r\n`],
])('a body is held until its answer is %s', async (_name, finish, framing, sent) => {
  const { send, outcomes, answers } = await open(createBodyReader({ bodyBytesMax: 10, bodiesBytesMax: 10 }));
  send(framing, sent);
  await expect.poll(() => outcomes).toEqual(['12345678']);
  send(LENGTH(8), '12345678');
  await expect.poll(() => outcomes).toEqual(['12345678', 'OVERLOADED']);
  const closed = new Promise((resolve) => answers[0]?.once('close', resolve));
  if (answers[0]) finish(answers[0]);
  await closed;
  send(LENGTH(10), '1234567890');
  await expect.poll(() => outcomes).toEqual(['12345678', 'OVERLOADED', '1234567890']);
});

it('a refused body holds nothing', async () => {
  const { send, outcomes } = await open(createBodyReader({ bodyBytesMax: 10, bodiesBytesMax: 12 }));
  for (let round = 1; round <= 3; round += 1) {
    send(CHUNKED, chunk('12345678901'));
    await expect.poll(() => outcomes.length).toBe(round);
  }
  send(LENGTH(10), '1234567890');
  await expect.poll(() => outcomes.at(-1)).toBe('1234567890');
  expect(outcomes.slice(0, 3)).toEqual(Array(3).fill('REQUEST_TOO_LARGE'));
});

it('a declared length over the limit is refused before any of it has come', async () => {
  const { send, outcomes } = await open(createBodyReader({ bodyBytesMax: 10, bodiesBytesMax: 12 }));
  send(LENGTH(11));
  await expect.poll(() => outcomes).toEqual(['REQUEST_TOO_LARGE']);
});

it.each([
  ['with a length', LENGTH(8), '123'],
  ['chunked', CHUNKED, chunk('123')],
])('a client that leaves amid a body %s sent an invalid request, and frees what it held', async (_n, framing, sent) => {
  const { send, outcomes, answers } = await open(createBodyReader({ bodyBytesMax: 10, bodiesBytesMax: 10 }));
  const socket = send(framing, sent);
  await expect.poll(() => answers.length).toBe(1);
  socket.destroy();
  await expect.poll(() => outcomes).toEqual(['INVALID_REQUEST']);
  send(LENGTH(10), '1234567890');
  await expect.poll(() => outcomes.at(-1)).toBe('1234567890');
});
