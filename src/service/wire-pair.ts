// How a request of one dialect travels to an upstream of one format, and its answer back: one row for each such pair.

import type { UpstreamFormat } from '../upstream/upstream.ts';
import type { Dialect, FinishReason, NeutralRequest, Usage } from '../wire/neutral.ts';
import type { StreamRelay } from '../wire/stream-relay.ts';
import type { ToolNameMap } from '../wire/tool-names.ts';
import type { ParsedRequest } from './completion.ts';
import { chatOverChat } from './pairs/chat-over-chat.ts';
import { chatOverMessages } from './pairs/chat-over-messages.ts';
import { messagesOverChat } from './pairs/messages-over-chat.ts';
import { messagesOverMessages } from './pairs/messages-over-messages.ts';
import { responsesOverChat } from './pairs/responses-over-chat.ts';
import { responsesOverMessages } from './pairs/responses-over-messages.ts';

export type BodyInput = {
  readonly parsed: ParsedRequest;
  /** The routed model. */
  readonly model: string;
  /** Set where svc must tell the upstream `max_tokens`. */
  readonly injectedMaxTokens: number | undefined;
  /** Most output tokens that credits are held for. */
  readonly outputTokensHeld: number;
  readonly upstream: {
    readonly dialect: 'openrouter' | 'openai';
    readonly takesSandboxField: boolean;
  };
  /** The caller's `anthropic-version` and `anthropic-beta`, where it sent them. Lower-case names. */
  readonly callerHeaders: Readonly<Record<string, string>>;
};

/** `headers` go upstream beside those every call has. */
export type UpstreamBody = {
  readonly bytes: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
  readonly toolNames: ToolNameMap;
};

export type AnswerInput = {
  readonly request: NeutralRequest;
  /** The routed model, as the answer names it where the upstream names none. */
  readonly model: string;
  readonly inputTokensEstimate: number;
  readonly toolNames: ToolNameMap;
  readonly requestId: string;
  /** `prefix_…`, as ids are made everywhere. */
  makeId(prefix: string): string;
  readonly nowMs: number;
};

/** A whole answer, read and not yet sent. */
export type WholeAnswer = {
  readonly usage: Usage | undefined;
  readonly usageMissing: readonly ('inputTokens' | 'outputTokens')[];
  readonly anomalies: readonly string[];
  readonly finishReason: FinishReason;
  /** UTF-8 bytes of generated text, thinking and tool arguments. */
  readonly deliveredBytes: number;
  /** The body for the caller. `cost` in USD as a decimal string, `usage` as charged. */
  finish(cost: string, usage: Usage): Uint8Array;
};

export interface WirePair {
  /** Below the upstream's base URL. */
  readonly path: string;
  /** Throws INVALID_REQUEST or UNSUPPORTED_FEATURE for what the upstream has no words for. */
  body(input: BodyInput): UpstreamBody;
  stream(input: AnswerInput): StreamRelay;
  /** Throws UPSTREAM_INVALID_RESPONSE, or the upstream's own error where it put one into a 200. */
  whole(input: AnswerInput, body: Buffer): WholeAnswer;
}

const PAIRS: Readonly<Record<Dialect, Readonly<Record<UpstreamFormat, WirePair>>>> = {
  chat: { chat: chatOverChat, messages: chatOverMessages },
  messages: { chat: messagesOverChat, messages: messagesOverMessages },
  responses: { chat: responsesOverChat, messages: responsesOverMessages },
};

/** An upstream that speaks the caller's own dialect gets it untranslated; else Chat where it speaks that. */
export function wirePairFor(dialect: Dialect, formats: readonly UpstreamFormat[]): WirePair {
  const pairs = PAIRS[dialect];
  if (dialect !== 'responses' && formats.includes(dialect)) return pairs[dialect];
  return formats.includes('chat') ? pairs.chat : pairs.messages;
}
