import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { OK, onRequest, settle, start, startRaw, upstreamAt } from './upstream-caller.ts';

describe('the keep-alive race', () => {
  it('is repeated once, on a new connection, without the caller seeing anything', async () => {
    const raw = await startRaw(staleAfterFirst());
    const racing = upstreamAt(raw.url);
    expect(await start(racing).over).toMatchObject({ end: 'end', text: 'ok' });
    await settle();
    expect(await start(racing).over).toMatchObject({ end: 'end', text: 'ok', terminals: 1 });
    expect(raw.connections()).toBe(2);
    await racing.close();
    raw.close();
  });

  it('is not assumed on a connection that never answered', async () => {
    const raw = await startRaw((socket) => onRequest(socket, () => socket.resetAndDestroy()));
    const racing = upstreamAt(raw.url);
    expect(await start(racing).over).toMatchObject({ failure: { code: 'UPSTREAM_ERROR', sent: true } });
    expect(raw.connections()).toBe(1);
    await racing.close();
    raw.close();
  });

  it('is not assumed once a byte of the answer has come', async () => {
    const raw = await startRaw((socket) => {
      onRequest(socket, (requests) => {
        if (requests === 1) socket.write(OK);
        else socket.write('HTTP/1.1 200', () => setTimeout(() => socket.resetAndDestroy(), 20));
      });
    });
    const racing = upstreamAt(raw.url);
    await start(racing).over;
    await settle();
    expect(await start(racing).over).toMatchObject({ failure: { code: 'UPSTREAM_ERROR', sent: true } });
    expect(raw.connections()).toBe(1);
    await racing.close();
    raw.close();
  });

  it('is repeated only once', async () => {
    let sockets = 0;
    const raw = await startRaw((socket) => {
      sockets += 1;
      const first = sockets === 1;
      onRequest(socket, (requests) => {
        if (first && requests === 1) socket.write(OK);
        else socket.resetAndDestroy();
      });
    });
    const racing = upstreamAt(raw.url);
    await start(racing).over;
    await settle();
    expect(await start(racing).over).toMatchObject({ failure: { code: 'UPSTREAM_ERROR', sent: true }, terminals: 1 });
    expect(raw.connections()).toBe(2);
    await racing.close();
    raw.close();
  });

  it('is not repeated for a call that was aborted meanwhile', async () => {
    let second = (): void => {};
    const arrived = new Promise<void>((resolve) => {
      second = resolve;
    });
    let requests = 0;
    const raw = await startRaw((socket) =>
      onRequest(socket, () => {
        requests += 1;
        if (requests === 1) socket.write(OK);
        else second();
      }),
    );
    const racing = upstreamAt(raw.url);
    await start(racing).over;
    await settle();
    const { abort, seen } = start(racing);
    await arrived;
    abort();
    await settle();
    expect(requests).toBe(2);
    expect(seen.terminals).toBe(0);
    await racing.close();
    raw.close();
  });
});

/** Every connection answers its first request and resets at the second, as a server does whose idle limit just ran out. */
function staleAfterFirst(): (socket: Socket) => void {
  return (socket) => {
    onRequest(socket, (requests) => {
      if (requests === 1) socket.write(OK);
      else socket.resetAndDestroy();
    });
  };
}
