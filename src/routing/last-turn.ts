// Picks from a request what the classifier reads: the last user turn, sampled, and the shape of the conversation around it.
import type { ContentPart, NeutralMessage, NeutralRequest, NeutralTool } from '../wire/neutral.ts';

/** The task is named at the beginning or the end of a prompt; what lies between is mostly pasted matter. */
export const HEAD_CHARS = 3000;
export const TAIL_CHARS = 1000;
/** The previous user turn and the system prompt give a little context for short follow-ups ("and in French?"). */
export const CONTEXT_CHARS = 240;
/** Enough of a tool list to see what kind of tools these are. */
const TOOLS_READ_MAX = 48;
const TOOL_DESCRIPTION_CHARS = 100;
const TOOL_CHARS = 2000;
/** How far into the previous answer to look for code. */
const PREVIOUS_CHARS = 1500;
/** Tool clients put machine-made notes beside the person's own words. */
const REMINDER = '<system-reminder>';

/** What the assistant did just before the last user turn. */
export type PreviousTurn = 'none' | 'text' | 'code' | 'question' | 'tool_call';

/** UTF-16 code units, reused from call to call: only the first `length` count. */
export type CodeBuffer = { readonly codes: Uint16Array; length: number };

/** Room for one reading; made once, used for every request. */
export type TurnBuffers = {
  readonly text: CodeBuffer;
  readonly previousUser: CodeBuffer;
  readonly system: CodeBuffer;
  readonly tools: CodeBuffer;
};

export type LastTurn = TurnBuffers & {
  /** Characters in the whole last user turn, sampled or not. */
  readonly textLength: number;
  /** The last message is a tool result, machine-made notes behind it aside. */
  readonly toolLoop: boolean;
  /** The last user turn came right behind a tool result, without an answer in between. */
  readonly afterTool: boolean;
  /** Tools the model may call: 0 when `toolChoice` is `none`. */
  readonly toolCount: number;
  readonly toolForced: boolean;
  readonly imageInLast: boolean;
  readonly imageAnywhere: boolean;
  readonly fileInLast: boolean;
  readonly jsonAsked: boolean;
  /** User turns. */
  readonly turns: number;
  readonly previous: PreviousTurn;
};

export function createTurnBuffers(): TurnBuffers {
  return {
    text: { codes: new Uint16Array(HEAD_CHARS + TAIL_CHARS + 1), length: 0 },
    previousUser: { codes: new Uint16Array(CONTEXT_CHARS), length: 0 },
    system: { codes: new Uint16Array(CONTEXT_CHARS), length: 0 },
    tools: { codes: new Uint16Array(TOOL_CHARS), length: 0 },
  };
}

export function readLastTurn(request: NeutralRequest, buffers: TurnBuffers): LastTurn {
  const { messages } = request;
  const last = lastUserIndex(messages);
  const parts = last < 0 ? [] : textParts(messages[last]);
  const textLength = sample(parts, buffers.text);
  const before = previousUserIndex(messages, last);
  copyHead(before < 0 ? [] : textParts(messages[before]), buffers.previousUser);
  copyHead(textParts(messages.find((message) => message.role === 'system')), buffers.system);
  const toolCount = request.toolChoice?.type === 'none' ? 0 : request.tools.length;
  copyTools(toolCount === 0 ? [] : request.tools, buffers.tools);
  const runStart = trailingUserRun(messages);
  const answer = messages[runStart - 1];
  const behindTool = runStart < messages.length && answer?.role === 'tool';
  return {
    text: buffers.text,
    previousUser: buffers.previousUser,
    system: buffers.system,
    tools: buffers.tools,
    textLength,
    toolLoop: messages.at(-1)?.role === 'tool' || (behindTool && onlyNotes(parts)),
    afterTool: behindTool,
    toolCount,
    toolForced: request.toolChoice?.type === 'required' || request.toolChoice?.type === 'tool',
    imageInLast: hasPart(messages, runStart, 'image'),
    imageAnywhere: hasPart(messages, 0, 'image'),
    fileInLast: hasPart(messages, runStart, 'file'),
    jsonAsked: request.responseFormat !== undefined,
    turns: userTurns(messages),
    previous: previousKind(answer),
  };
}

/** The last user message that says something; else the last user message; -1 when there is none. */
function lastUserIndex(messages: readonly NeutralMessage[]): number {
  let silent = -1;
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index];
    if (message?.role !== 'user') {
      // Words behind the last answer win; a bare image does not send us back into older turns.
      if (silent >= 0 && message?.role === 'assistant') return silent;
      continue;
    }
    if (message.content.some((part) => part.type === 'text' && part.text.length > 0)) return index;
    if (silent < 0) silent = index;
  }
  return silent;
}

function previousUserIndex(messages: readonly NeutralMessage[], last: number): number {
  for (let index = last - 1; index >= 0; index--) if (messages[index]?.role === 'user') return index;
  return -1;
}

function userTurns(messages: readonly NeutralMessage[]): number {
  let count = 0;
  for (const message of messages) if (message.role === 'user') count++;
  return count;
}

/** Where the user messages that end the conversation begin; its length when it does not end with one. */
function trailingUserRun(messages: readonly NeutralMessage[]): number {
  let start = messages.length;
  while (start > 0 && messages[start - 1]?.role === 'user') start--;
  return start;
}

/** The texts of a message, without machine-made notes where a person's words stand beside them. */
function textParts(message: NeutralMessage | undefined): readonly string[] {
  const texts: string[] = [];
  const notes: string[] = [];
  for (const part of message?.content ?? []) {
    if (part.type !== 'text') continue;
    (part.text.startsWith(REMINDER) ? notes : texts).push(part.text);
  }
  return texts.length > 0 ? texts : notes;
}

function onlyNotes(texts: readonly string[]): boolean {
  return texts.every((text) => text.startsWith(REMINDER));
}

/** Fills the buffer with the beginning and the end of the texts; returns their whole length. */
function sample(texts: readonly string[], buffer: CodeBuffer): number {
  let total = 0;
  for (const text of texts) total += text.length + 1;
  total = Math.max(0, total - 1);
  buffer.length = 0;
  const limit = total <= HEAD_CHARS + TAIL_CHARS ? total : HEAD_CHARS;
  let position = 0;
  for (const text of texts) {
    position += append(buffer, text, 0, Math.min(text.length, limit - position));
    if (position >= limit) break;
    position += appendBreak(buffer);
  }
  if (total > limit) appendTail(texts, buffer);
  return total;
}

function appendTail(texts: readonly string[], buffer: CodeBuffer): void {
  let first = texts.length;
  let room = TAIL_CHARS;
  while (first > 0 && room > 0) room -= (texts[--first]?.length ?? 0) + 1;
  for (let index = first; index < texts.length; index++) {
    const text = texts[index] ?? '';
    appendBreak(buffer);
    append(buffer, text, index === first && room < 0 ? -room - 1 : 0, text.length);
  }
}

function append(buffer: CodeBuffer, text: string, from: number, to: number): number {
  const { codes } = buffer;
  const end = Math.min(to, from + codes.length - buffer.length);
  let length = buffer.length;
  for (let index = from; index < end; index++) codes[length++] = text.charCodeAt(index);
  buffer.length = length;
  return Math.max(0, end - from);
}

function appendBreak(buffer: CodeBuffer): number {
  if (buffer.length < buffer.codes.length) buffer.codes[buffer.length++] = 10;
  return 1;
}

function copyHead(texts: readonly string[], buffer: CodeBuffer): void {
  buffer.length = 0;
  for (const text of texts) {
    append(buffer, text, 0, text.length);
    appendBreak(buffer);
  }
}

function copyTools(tools: readonly NeutralTool[], buffer: CodeBuffer): void {
  buffer.length = 0;
  const count = Math.min(tools.length, TOOLS_READ_MAX);
  for (let index = 0; index < count; index++) {
    const tool = tools[index];
    if (tool === undefined) return;
    append(buffer, tool.name, 0, Math.min(tool.name.length, TOOL_DESCRIPTION_CHARS));
    appendBreak(buffer);
    const description = tool.description ?? '';
    append(buffer, description, 0, Math.min(description.length, TOOL_DESCRIPTION_CHARS));
    appendBreak(buffer);
  }
}

function hasPart(messages: readonly NeutralMessage[], from: number, type: ContentPart['type']): boolean {
  for (let index = from; index < messages.length; index++) {
    for (const part of messages[index]?.content ?? []) if (part.type === type) return true;
  }
  return false;
}

function previousKind(message: NeutralMessage | undefined): PreviousTurn {
  if (message === undefined || message.role === 'system' || message.role === 'user') return 'none';
  if (message.role === 'tool') return 'tool_call';
  let text = '';
  for (const part of message.content) {
    if (part.type === 'tool_call') return 'tool_call';
    if (part.type === 'text') text = part.text;
  }
  if (text.slice(0, PREVIOUS_CHARS).includes('```')) return 'code';
  return endsAsking(text) ? 'question' : 'text';
}

function endsAsking(text: string): boolean {
  let index = text.length - 1;
  while (index > text.length - 8 && (text.charCodeAt(index) <= 32 || text[index] === '*')) index--;
  const end = text[index];
  return end === '?' || end === '？' || end === '؟';
}
