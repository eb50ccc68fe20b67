// A streamed attempt on a clock of its own: signs of life in silence, deadlines that run between real events, back-pressure.

import { afterEach, beforeEach, describe, expect, it, type Mock, vi } from 'vitest';
import { attemptStream } from '../../src/service/attempt-stream.ts';
import type { AttemptInput } from '../../src/service/attempt-whole.ts';
import type { Downstream } from '../../src/service/downstream.ts';
import { createMeter, Stopper } from '../../src/service/road.ts';
import type { UpstreamCall, UpstreamHandler } from '../../src/upstream/upstream.ts';
import { createMessagesPassRelay } from '../../src/wire/messages-pass-relay.ts';
import type { StreamRelay } from '../../src/wire/stream-relay.ts';
import { chunk, sse, tool } from '../wire/chat-streams.ts';
import { messageStart, nativeSse, PING } from '../wire/native-streams.ts';
import { chatRelay, messagesRelay } from '../wire/stream-relays.ts';

const IDLE_MS = 40_000;
const FIRST_EVENT_MS = 60_000;

type Attempt = {
  readonly listener: UpstreamHandler;
  readonly written: string[];
  readonly control: {
    readonly pause: Mock<() => void>;
    readonly resume: Mock<() => void>;
    readonly abort: Mock<() => void>;
  };
  readonly aborted: () => boolean;
  readonly ending: () => unknown;
  isSlow: boolean;
  drain(): void;
};

/** An attempt whose upstream and client are played by the test. */
function start(relay: StreamRelay): Attempt {
  const control = { pause: vi.fn<() => void>(), resume: vi.fn<() => void>(), abort: vi.fn<() => void>() };
  const state = { listener: undefined as UpstreamHandler | undefined, aborted: false, ending: undefined as unknown };
  let drain = (): void => undefined;
  const attempt = {
    written: [] as string[],
    control,
    isSlow: false,
    aborted: () => state.aborted,
    ending: () => state.ending,
    drain: () => drain(),
  };
  const down = {
    begin: () => attempt.written.push('head'),
    write: (bytes: Uint8Array) => {
      attempt.written.push(Buffer.from(bytes).toString());
      return !attempt.isSlow;
    },
    onDrain: (resume: () => void) => {
      drain = resume;
    },
  } as unknown as Downstream;
  const upstream = {
    send(_call: UpstreamCall, given: UpstreamHandler) {
      state.listener = given;
      return () => {
        state.aborted = true;
      };
    },
  };
  const clock = { nowMs: () => Date.now(), monotonicMs: () => 0 };
  const deps = { clock, makeId: () => 'ue_1', secrets: [] };
  const input = {
    road: { offer: { upstream }, down, meter: createMeter(), stopper: new Stopper(), deps },
    call: { timeouts: { connectMs: 1, firstEventMs: FIRST_EVENT_MS, idleMs: IDLE_MS } },
    pair: { stream: () => relay },
  } as unknown as AttemptInput;
  attemptStream(input).then(
    async (answer) => {
      state.ending = await answer.relay();
    },
    (reason: unknown) => {
      state.ending = reason;
    },
  );
  if (state.listener === undefined) throw new Error('nothing was sent');
  state.listener.onHead(200, { 'content-type': 'text/event-stream' }, control);
  return Object.assign(attempt, { listener: state.listener });
}

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const dialects = [
  ['chat', chatRelay, ': ping\n\n'],
  ['messages', messagesRelay, 'event: ping\ndata: {"type":"ping"}\n\n'],
] as const;

describe.each(dialects)('a stream for a %s caller', (_dialect, createRelay, ping) => {
  const first = sse(chunk({ role: 'assistant', content: 'a' }));

  it('gets a sign of life for every 15 s of silence, and none before its head', async () => {
    const attempt = start(createRelay());
    attempt.listener.onData(Buffer.from(': PROCESSING\n\n'));
    await vi.advanceTimersByTimeAsync(30_000);
    expect(attempt.written).toEqual([]);
    attempt.listener.onData(first);
    const begun = attempt.written.length;
    expect(attempt.written[0]).toBe('head');
    await vi.advanceTimersByTimeAsync(14_999);
    expect(attempt.written).toHaveLength(begun);
    await vi.advanceTimersByTimeAsync(15_001);
    expect(attempt.written.slice(begun)).toEqual([ping, ping]);
  });

  it('gets none while bytes flow, and none after its end', async () => {
    const attempt = start(createRelay());
    for (let second = 0; second < 60; second += 10) {
      attempt.listener.onData(first);
      await vi.advanceTimersByTimeAsync(10_000);
    }
    attempt.listener.onData(sse(chunk({}, 'stop'), '[DONE]'));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(attempt.written).not.toContain(ping);
    expect([attempt.ending(), attempt.aborted()]).toEqual([undefined, true]);
  });

  it('ends where the upstream sends comments only', async () => {
    const attempt = start(createRelay());
    attempt.listener.onData(first);
    for (let second = 0; second < 50; second += 10) {
      attempt.listener.onData(Buffer.from(': PROCESSING\n\n'));
      await vi.advanceTimersByTimeAsync(10_000);
    }
    expect(attempt.ending()).toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
  });

  it('ends where the upstream sends pings only', async () => {
    const attempt = start(createRelay());
    attempt.listener.onData(first);
    for (let second = 0; second < 50; second += 10) {
      attempt.listener.onData(Buffer.from('event: ping\ndata: {"type":"ping"}\n\n'));
      await vi.advanceTimersByTimeAsync(10_000);
    }
    expect(attempt.ending()).toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
  });

  it('goes on while the upstream sends what has to wait', async () => {
    const attempt = start(createRelay());
    attempt.listener.onData(first);
    attempt.listener.onData(sse(chunk(tool(0, 'c1', 'look', '{'))));
    for (let second = 0; second < 200; second += 20) {
      attempt.listener.onData(sse(chunk(tool(1, 'c2', 'run', ' '))));
      await vi.advanceTimersByTimeAsync(20_000);
    }
    expect(attempt.ending()).toBeUndefined();
    expect(attempt.aborted()).toBe(false);
  });

  it('pauses the upstream for a slow client and goes on when it has read', () => {
    const attempt = start(createRelay());
    attempt.listener.onData(first);
    expect(attempt.control.pause).not.toHaveBeenCalled();
    attempt.isSlow = true;
    attempt.listener.onData(first);
    expect(attempt.control.pause).toHaveBeenCalledOnce();
    expect(attempt.control.resume).not.toHaveBeenCalled();
    attempt.drain();
    expect(attempt.control.resume).toHaveBeenCalledOnce();
  });
});

it('ends a native stream that pings only, though its client gets the pings', async () => {
  const attempt = start(createMessagesPassRelay({ requestId: 'req_1' }));
  attempt.listener.onData(nativeSse(messageStart()));
  const begun = attempt.written.length;
  for (let second = 0; second < 50; second += 10) {
    attempt.listener.onData(nativeSse(PING));
    await vi.advanceTimersByTimeAsync(10_000);
  }
  expect(attempt.written.length).toBeGreaterThan(begun);
  expect(attempt.ending()).toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
});
