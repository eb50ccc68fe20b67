// Neutral messages as the system prompt and the turns of a Messages call.

import { parseExactObject } from './exact-json.ts';
import type { JsonObject } from './field-checks.ts';
import type { ContentPart, NeutralMessage, ThinkingPart, ToolCall } from './neutral.ts';
import { unsealReasoning } from './parse-reasoning.ts';
import { renderMessagesParts } from './render-messages-parts.ts';
import { toAcceptedToolId } from './tool-ids.ts';
import type { ToolNameMap } from './tool-names.ts';

export type MessagesTurnOptions = { readonly takesMidSystem: boolean; readonly toolNames: ToolNameMap };

type Turn = { readonly role: 'system' | 'user' | 'assistant'; readonly content: JsonObject[] };
type Message<R> = Extract<NeutralMessage, { role: R }>;
type UserSide = Exclude<NeutralMessage, Message<'assistant'>>;

/** Before a system message that has to stand as text of the user. */
const SYSTEM_MARK = '[system] ';

/**
 * The leading system messages are the prompt; with nothing after them the last is the user's turn, since there has to
 * be one. Results of tools come first in the turn that follows the call.
 */
export function renderMessagesTurns(
  messages: readonly NeutralMessage[],
  options: MessagesTurnOptions,
): { system: JsonObject[]; messages: Turn[] } {
  const leading = leadingSystem(messages);
  const rest = messages.slice(leading.length);
  const lone = rest.length === 0 ? leading.pop() : undefined;
  const system = leading.flatMap(({ content }) => renderMessagesParts(content));
  if (lone !== undefined) return { system, messages: [{ role: 'user', content: renderMessagesParts(lone.content) }] };
  const turns: Turn[] = [];
  let answers: UserSide[] = [];
  for (const message of rest) {
    if (message.role !== 'assistant') {
      answers.push(message);
      continue;
    }
    turns.push(...renderAnswers(answers, options));
    answers = [];
    const content = joinPieces(message.content).flatMap((part) => renderAssistantPart(part, options.toolNames));
    // An empty turn is an error there, and says nothing.
    if (content.length > 0) turns.push({ role: 'assistant', content: thinkingFirst(content) });
  }
  turns.push(...renderAnswers(answers, options));
  return { system, messages: turns };
}

function leadingSystem(messages: readonly NeutralMessage[]): Message<'system'>[] {
  const leading: Message<'system'>[] = [];
  for (const message of messages) {
    if (message.role !== 'system') break;
    leading.push(message);
  }
  return leading;
}

/** What stands between two turns of the assistant: the results as one turn, and the user's own words after them in it. */
function renderAnswers(messages: readonly UserSide[], options: MessagesTurnOptions): Turn[] {
  const results = messages.filter((message): message is Message<'tool'> => message.role === 'tool');
  const turns: Turn[] = messages.flatMap((message) => {
    if (message.role === 'tool') return [];
    const content = renderMessagesParts(message.content);
    if (message.role !== 'system') return [{ role: 'user', content }];
    return [options.takesMidSystem ? { role: 'system', content } : { role: 'user', content: marked(content) }];
  });
  if (results.length === 0) return turns;
  const whole: Turn = { role: 'user', content: results.map(renderResult) };
  const others = turns.findIndex(({ role }) => role !== 'user');
  const joined = others === -1 ? turns.length : others;
  for (const turn of turns.slice(0, joined)) whole.content.push(...turn.content);
  return [whole, ...turns.slice(joined)];
}

function marked(content: JsonObject[]): JsonObject[] {
  const [first, ...rest] = content;
  if (first === undefined || typeof first['text'] !== 'string') return content;
  return [{ ...first, text: SYSTEM_MARK + first['text'] }, ...rest];
}

function renderResult({ toolCallId, isError, content }: Message<'tool'>): JsonObject {
  const blocks = renderMessagesParts(content);
  const [only] = blocks;
  const isPlain = blocks.length === 1 && only?.['type'] === 'text' && only['cache_control'] === undefined;
  return {
    type: 'tool_result',
    tool_use_id: toAcceptedToolId(toolCallId),
    ...(blocks.length === 0 ? {} : { content: isPlain ? only['text'] : blocks }),
    ...(isError ? { is_error: true } : {}),
  };
}

function renderAssistantPart(part: ContentPart | ThinkingPart | ToolCall, toolNames: ToolNameMap): JsonObject[] {
  if (part.type === 'thinking') return renderThinking(part);
  if (part.type !== 'tool_call') return renderMessagesParts([part]);
  const call = { type: 'tool_use', id: toAcceptedToolId(part.id), name: toolNames.toUpstream(part.name) };
  const mark = part.cacheControl === undefined ? {} : { cache_control: part.cacheControl };
  return [{ ...call, input: toInput(part.arguments), ...mark }];
}

/** Chat clients give streamed thinking back in the pieces it came in, the signature on the last: it is over all of them. */
function joinPieces<T extends ContentPart | ToolCall>(content: readonly (T | ThinkingPart)[]): (T | ThinkingPart)[] {
  const joined: (T | ThinkingPart)[] = [];
  for (const part of content) {
    const last = joined.at(-1);
    if (part.type === 'thinking' && part.encrypted === undefined && last?.type === 'thinking' && !isSigned(last)) {
      joined[joined.length - 1] = { ...part, text: last.text + part.text };
    } else joined.push(part);
  }
  return joined;
}

function isSigned({ signature, encrypted }: ThinkingPart): boolean {
  return encrypted !== undefined || (signature !== undefined && signature !== '');
}

/** Only what the model signed itself: unsigned thinking and that of other vendors is refused. */
function renderThinking({ text, signature, encrypted }: ThinkingPart): JsonObject[] {
  const proof = encrypted ?? signature ?? '';
  if (proof === '' || unsealReasoning(proof) !== undefined) return [];
  if (encrypted !== undefined) return [{ type: 'redacted_thinking', data: encrypted }];
  return [{ type: 'thinking', thinking: text, signature }];
}

/** The dialect asks for this order. */
function thinkingFirst(content: readonly JsonObject[]): JsonObject[] {
  const isThinking = (block: JsonObject): boolean => String(block['type']).endsWith('thinking');
  return [...content.filter(isThinking), ...content.filter((block) => !isThinking(block))];
}

/** What is no JSON object was written by a model that broke off: it is shown as the text it was. */
function toInput(text: string): JsonObject {
  return text.trim() === '' ? {} : (parseExactObject(text) ?? { raw_arguments: text });
}
