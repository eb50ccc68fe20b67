import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseSandboxControls } from '../../../src/upstream/sandbox/sandbox-faults.ts';
import { sendStream } from '../../../src/upstream/sandbox/send-stream.ts';

const TEXT = 'words of a long answer '.repeat(20_000);
const USAGE = {
  prompt_tokens: 1,
  completion_tokens: 1,
  total_tokens: 2,
  cost: 0,
  prompt_tokens_details: { cached_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0 },
};

let server: http.Server;
let started: Promise<{ readonly res: http.ServerResponse; readonly sent: Promise<void> }>;
beforeEach(async () => {
  started = new Promise((resolve) => {
    server = http.createServer((_, res) => {
      const leaving = new AbortController();
      res.on('close', () => leaving.abort());
      const sent = sendStream({
        res,
        gone: leaving.signal,
        head: { id: 'gen-1', created: 1, model: 'm' },
        answer: { id: 'gen-1', text: TEXT, calls: [], finishReason: 'stop', completionTokens: 1 },
        usage: USAGE,
        pace: { firstTokenMs: 0, msPerToken: 0 },
        controls: parseSandboxControls(undefined),
        includeUsage: true,
      });
      resolve({ res, sent });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** Asks and does not read. */
async function askWithoutReading(): Promise<http.IncomingMessage> {
  const port = (server.address() as AddressInfo).port;
  const response = await new Promise<http.IncomingMessage>((resolve) => {
    http.get({ host: '127.0.0.1', port, agent: false }, resolve);
  });
  response.on('error', () => {});
  return response;
}

describe('a long stream', () => {
  it('waits for a reader who does not read, and ends when the reader goes', async () => {
    const response = await askWithoutReading();
    const { res, sent } = await started;
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(res.writableLength).toBeLessThan(256 * 1024);
    response.destroy();
    await sent;
  });

  it('comes whole to a reader who starts late', async () => {
    const response = await askWithoutReading();
    await new Promise((resolve) => setTimeout(resolve, 50));
    let bytes = 0;
    let tail = '';
    for await (const chunk of response) {
      bytes += chunk.length;
      tail = (tail + chunk.toString('utf8')).slice(-100);
    }
    await (await started).sent;
    expect(bytes).toBeGreaterThan(TEXT.length);
    expect(tail.endsWith('data: [DONE]\n\n')).toBe(true);
  });
});
