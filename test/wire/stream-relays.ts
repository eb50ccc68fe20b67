// Both relays as the tests make them, and a whole stream run through one.

import { createChatStreamRelay } from '../../src/wire/chat-stream-relay.ts';
import { createMessagesStreamRelay } from '../../src/wire/messages-stream-relay.ts';
import type { StreamRelay } from '../../src/wire/stream-relay.ts';
import { createToolNameMap } from '../../src/wire/tool-names.ts';

export const COST = '0.000123';

export function chatRelay(includeUsage = true): StreamRelay {
  return createChatStreamRelay({ includeUsage, requestId: 'req_1' });
}

export function messagesRelay(): StreamRelay {
  let made = 0;
  return createMessagesStreamRelay({
    id: 'msg_1',
    model: 'openai/gpt-4o',
    inputTokensEstimate: 7,
    toolNames: createToolNameMap(['look']),
    usedToolIds: new Set(['call_used']),
    newToolId: () => {
      made += 1;
      return `toolu_${made}`;
    },
    requestId: 'req_1',
  });
}

/** What the client got, to the very end, good or bad. */
export function relayAll(relay: StreamRelay, pieces: readonly Uint8Array[]): string {
  const out: Uint8Array[] = [];
  for (const piece of pieces) {
    out.push(relay.push(piece));
    if (relay.failure !== undefined) break;
  }
  if (relay.failure === undefined) out.push(relay.end());
  out.push(relay.failure === undefined ? relay.complete(COST) : relay.fail(relay.failure));
  return Buffer.concat(out).toString();
}

export function singleBytes(bytes: Uint8Array): Uint8Array[] {
  return Array.from(bytes, (_byte, index) => bytes.subarray(index, index + 1));
}
