// Neutral messages as Chat messages: the order Chat asks for, and a place for everything Messages can say.

import type { JsonObject } from './field-checks.ts';
import type { CacheControl, ContentPart, NeutralMessage, ThinkingPart, ToolCall } from './neutral.ts';
import { renderChatContent, renderChatPart } from './render-chat-parts.ts';
import { isClaudeModel, renderChatReasoning } from './render-chat-reasoning.ts';
import type { ChatDialect } from './render-chat-request.ts';
import type { ToolNameMap } from './tool-names.ts';

export type MessageContext = {
  readonly model: string;
  readonly dialect: ChatDialect;
  readonly toolNames: ToolNameMap;
};

/** Claude Code's first system block changes with every request, which would spoil any other vendor's prompt cache. */
const BILLING_PREFIX = 'x-anthropic-billing-header:';

/** Chat has no field for a failed tool: the model is told in the text. */
const TOOL_ERROR_PREFIX = '[tool error] ';

export function renderChatMessages(messages: readonly NeutralMessage[], context: MessageContext): JsonObject[] {
  const rendered: JsonObject[] = [];
  // Between a call and its results Chat allows nothing: what stood there waits until the results are through.
  let waiting: JsonObject[] = [];
  let shown: JsonObject[] = [];
  let isAfterCalls = false;
  const flush = (): void => {
    if (shown.length > 0) rendered.push({ role: 'user', content: shown });
    for (const message of waiting) rendered.push(message);
    shown = [];
    waiting = [];
  };
  for (const message of messages) {
    if (message.role === 'tool') {
      rendered.push(renderToolResult(message, context, shown));
      continue;
    }
    if (message.role === 'system' && isAfterCalls) {
      waiting.push(...renderSystem(message, context));
      continue;
    }
    flush();
    rendered.push(...renderTurn(message, context));
    isAfterCalls = message.role === 'assistant' && message.content.some((part) => part.type === 'tool_call');
  }
  flush();
  return rendered;
}

type ToolMessage = Extract<NeutralMessage, { role: 'tool' }>;
type SystemMessage = Extract<NeutralMessage, { role: 'system' }>;

function renderTurn(message: Exclude<NeutralMessage, ToolMessage>, context: MessageContext): JsonObject[] {
  if (message.role === 'system') return renderSystem(message, context);
  const name = message.name === undefined ? {} : { name: message.name };
  if (message.role === 'assistant')
    return [{ role: 'assistant', ...name, ...renderAssistant(message.content, context) }];
  return [{ role: 'user', ...name, content: renderChatContent(message.content, context.dialect) }];
}

function renderSystem(message: SystemMessage, context: MessageContext): JsonObject[] {
  const content = isClaudeModel(context.model) ? message.content : message.content.map(withoutBillingLine);
  const rendered = renderChatContent(content, context.dialect);
  if (rendered === '') return [];
  return [{ role: 'system', ...(message.name === undefined ? {} : { name: message.name }), content: rendered }];
}

/** The line alone: what follows it is the prompt. Empty texts are left out later. */
function withoutBillingLine(part: ContentPart): ContentPart {
  if (part.type !== 'text' || !part.text.startsWith(BILLING_PREFIX)) return part;
  const end = part.text.indexOf('\n');
  return { ...part, text: end === -1 ? '' : part.text.slice(end + 1) };
}

function renderAssistant(
  content: readonly (ContentPart | ThinkingPart | ToolCall)[],
  context: MessageContext,
): JsonObject {
  const parts: ContentPart[] = [];
  const thinking: ThinkingPart[] = [];
  const calls: JsonObject[] = [];
  let mark: CacheControl | undefined;
  for (const part of content) {
    if (part.type === 'tool_call') {
      calls.push(renderToolCall(part, context.toolNames));
      if (part.cacheControl !== undefined) mark = part.cacheControl;
    } else if (part.type === 'thinking') thinking.push(part);
    else parts.push(part);
  }
  const text = renderChatContent(markedLast(parts, mark), context.dialect);
  return {
    content: text === '' && calls.length > 0 ? null : text,
    ...(context.dialect === 'openrouter' ? renderChatReasoning(thinking, context.model) : {}),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
}

/** Chat's calls carry no cache mark: the text before them takes it, unless it has its own. */
function markedLast(parts: readonly ContentPart[], mark: CacheControl | undefined): readonly ContentPart[] {
  const index = parts.findLastIndex((part) => part.type === 'text' && part.text !== '');
  const part = parts[index];
  if (mark === undefined || part?.type !== 'text' || part.cacheControl !== undefined) return parts;
  return parts.with(index, { ...part, cacheControl: mark });
}

function renderToolCall(call: ToolCall, toolNames: ToolNameMap): JsonObject {
  const definition = { name: toolNames.toUpstream(call.name), arguments: call.arguments };
  return { id: call.id, type: 'function', function: definition };
}

/** The plain schema has only text in tool messages: what else a tool returned goes to `shown`, for one user message. */
function renderToolResult(message: ToolMessage, context: MessageContext, shown: JsonObject[]): JsonObject {
  const attached = context.dialect === 'openai' ? message.content.filter(isAttachment) : [];
  const label: ContentPart = { type: 'text', text: `[${attached.length} attachment(s) shown after the tool results]` };
  const kept =
    attached.length === 0 ? message.content : [...message.content.filter((part) => !isAttachment(part)), label];
  if (attached.length > 0) {
    shown.push({ type: 'text', text: `[attachment(s) of the tool result ${message.toolCallId}]` });
    for (const part of attached) shown.push(renderChatPart(part, 'openai'));
  }
  const content = renderChatContent(message.isError ? markedAsError(kept) : kept, context.dialect);
  return { role: 'tool', tool_call_id: message.toolCallId, content };
}

function isAttachment(part: ContentPart): boolean {
  return part.type === 'image' || part.type === 'file';
}

function markedAsError(content: readonly ContentPart[]): readonly ContentPart[] {
  const index = content.findIndex((part) => part.type === 'text');
  const part = content[index];
  if (part?.type !== 'text') return [{ type: 'text', text: TOOL_ERROR_PREFIX.trim() }, ...content];
  return content.with(index, { ...part, text: `${TOOL_ERROR_PREFIX}${part.text}` });
}
