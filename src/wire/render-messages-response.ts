// A neutral answer as a Messages answer.

import { parseExactObject } from './exact-json.ts';
import type { JsonObject } from './field-checks.ts';
import { renderMessagesUsage, renderStop } from './messages-stop.ts';
import type { NeutralResponse, TextPart, ThinkingPart, ToolCall, Usage } from './neutral.ts';
import { createToolIdChooser } from './tool-ids.ts';
import type { ToolNameMap } from './tool-names.ts';

/** `cost` is a decimal string in USD; `usedToolIds` are those of the request's history. */
export type MessagesRenderOptions = {
  readonly id: string;
  readonly cost: string;
  /** The model asked of the upstream, for an answer that names none. */
  readonly model?: string;
  /** What was charged; without it, what the upstream counted. */
  readonly usage?: Usage;
  readonly toolNames: ToolNameMap;
  readonly usedToolIds: ReadonlySet<string>;
  newToolId(): string;
};

/** To be written by `renderExactJson`: tool inputs keep the text the model wrote. */
export function renderMessagesResponse(
  response: NeutralResponse,
  options: MessagesRenderOptions,
): Record<string, unknown> {
  const chooseId = createToolIdChooser(options.usedToolIds, options.newToolId);
  const isRefused = response.refusal !== undefined && response.finishReason !== 'length';
  const parts = response.content.filter((part) => !(isRefused && part.type === 'text'));
  const toolCalls = parts.filter((part) => part.type === 'tool_call').length;
  return {
    id: options.id,
    type: 'message',
    role: 'assistant',
    model: response.model === '' ? (options.model ?? '') : response.model,
    content: parts.map((part) => renderBlock(part, options.toolNames, chooseId)),
    container: null,
    diagnostics: null,
    stop_details: null,
    ...renderStop({ ...response, toolCalls }),
    usage: { ...UNKNOWN_USAGE, ...renderMessagesUsage(options.usage ?? response.usage, options.cost) },
  };
}

/** What clients' types promise to be there and a Chat upstream has no word for. */
const UNKNOWN_USAGE = {
  cache_creation: null,
  inference_geo: null,
  output_tokens_details: null,
  server_tool_use: null,
  service_tier: null,
  speed: null,
};

function renderBlock(
  part: TextPart | ThinkingPart | ToolCall,
  toolNames: ToolNameMap,
  chooseId: (id: string) => string,
): JsonObject {
  if (part.type === 'text') return { type: 'text', text: part.text, citations: null };
  if (part.type === 'tool_call') {
    const input = toInput(part.arguments);
    const name = toolNames.toCaller(part.name);
    return { type: 'tool_use', id: chooseId(part.id), name, input, caller: { type: 'direct' } };
  }
  if (part.encrypted !== undefined) return { type: 'redacted_thinking', data: part.encrypted };
  return { type: 'thinking', thinking: part.text, signature: part.signature ?? '' };
}

/**
 * Text that is no JSON object is handed over as text, for the caller's schema check to tell the model: an empty input
 * would run the tool with arguments nobody gave.
 */
function toInput(text: string): JsonObject {
  return text.trim() === '' ? {} : (parseExactObject(text) ?? { raw_arguments: text });
}
