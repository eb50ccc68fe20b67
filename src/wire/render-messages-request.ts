// A neutral request as the body of a Messages call, for callers of another dialect.

import type { JsonObject } from './field-checks.ts';
import type { NeutralRequest, NeutralTool, ToolChoice } from './neutral.ts';
import { renderMessagesTurns } from './render-messages-turns.ts';
import { sha256Hex } from './sha256.ts';
import { SvcError } from './svc-error.ts';
import { createToolNameMap, type ToolNameMap } from './tool-names.ts';

export type MessagesRequestOptions = {
  /** The routed model. */
  readonly model: string;
  /** What is sent where the caller gave no cap: this dialect has to have one. */
  readonly defaultMaxTokens: number;
  /** System messages in the middle keep their place and role; else they become marked text of the user. */
  readonly takesMidSystem: boolean;
  /** From version 2026-10-21 on `temperature`, `top_p` and `top_k` are errors. */
  readonly takesSampling: boolean;
  readonly sandboxField: boolean;
};

/** Thinking of fewer tokens is refused. */
const MIN_BUDGET = 1024;
/** Longest `metadata.user_id`; longer ones are sent as their hash. */
const MAX_USER_LENGTH = 256;
const EFFORTS: ReadonlySet<string> = new Set(['low', 'medium', 'high', 'xhigh', 'max']);
/** The dialect has no mode for JSON without a schema. */
const JSON_ONLY = 'Answer with one JSON object and nothing else.';

/**
 * Throws UNSUPPORTED_FEATURE for what this dialect has no words for. The body is to be written by `renderExactJson`:
 * tool inputs keep the text the model wrote.
 */
export function renderMessagesRequest(
  request: NeutralRequest,
  options: MessagesRequestOptions,
): { body: Record<string, unknown>; toolNames: ToolNameMap } {
  if (request.choices > 1) {
    const message = 'n must be 1: the upstream of this model gives one answer to a request.';
    throw new SvcError('UNSUPPORTED_FEATURE', message, { param: 'n' });
  }
  const toolNames = createToolNameMap(namesIn(request));
  const { system, messages } = renderMessagesTurns(request.messages, { ...options, toolNames });
  if (request.responseFormat?.type === 'json_object') system.push({ type: 'text', text: JSON_ONLY });
  const maxTokens = request.maxTokens ?? options.defaultMaxTokens;
  const thinking = renderThinking(request, maxTokens);
  const isThinking = thinking !== undefined && thinking['type'] !== 'disabled';
  const body = definedOnly({
    model: options.model,
    max_tokens: maxTokens,
    system: system.length === 0 ? undefined : system,
    messages,
    stream: request.stream ? true : undefined,
    ...(options.takesSampling && !isThinking ? renderSampling(request) : {}),
    stop_sequences: request.stop === undefined || request.stop.length === 0 ? undefined : request.stop,
    ...renderTools(request, toolNames),
    thinking,
    output_config: renderOutputConfig(request),
    metadata: request.user === undefined ? undefined : { user_id: shortened(request.user) },
    service_tier: renderServiceTier(request.serviceTier),
    sandbox: options.sandboxField ? request.sandbox : undefined,
  });
  return { body, toolNames };
}

function namesIn(request: NeutralRequest): string[] {
  const names = request.tools.map((tool) => tool.name);
  if (request.toolChoice?.type === 'tool') names.push(request.toolChoice.name);
  for (const message of request.messages) {
    if (message.role !== 'assistant') continue;
    for (const part of message.content) if (part.type === 'tool_call') names.push(part.name);
  }
  return names;
}

/** Newer models refuse the two together; the temperature says more. */
function renderSampling({ temperature, topP, topK }: NeutralRequest): JsonObject {
  return {
    temperature: temperature === undefined ? undefined : Math.min(1, temperature),
    top_p: temperature === undefined ? topP : undefined,
    top_k: topK,
  };
}

function renderTools(request: NeutralRequest, toolNames: ToolNameMap): JsonObject {
  if (request.tools.length === 0) return {};
  return {
    tools: request.tools.map((tool) => renderTool(tool, toolNames)),
    tool_choice: renderToolChoice(request.toolChoice, request.parallelToolCalls === false, toolNames),
  };
}

function renderTool(tool: NeutralTool, toolNames: ToolNameMap): JsonObject {
  const schema = typeof tool.parameters === 'object' && tool.parameters !== null ? tool.parameters : {};
  return definedOnly({
    name: toolNames.toUpstream(tool.name),
    description: tool.description,
    input_schema: 'type' in schema ? schema : { type: 'object', ...schema },
    strict: tool.strict === true ? true : undefined,
    cache_control: tool.cacheControl,
  });
}

/** `disable_parallel_tool_use` lives inside the choice, which is automatic where the caller made none. */
function renderToolChoice(
  choice: ToolChoice | undefined,
  isSingle: boolean,
  toolNames: ToolNameMap,
): JsonObject | undefined {
  if (choice?.type === 'none') return { type: 'none' };
  const single = isSingle ? { disable_parallel_tool_use: true } : {};
  if (choice?.type === 'tool') return { type: 'tool', name: toolNames.toUpstream(choice.name), ...single };
  if (choice?.type === 'required') return { type: 'any', ...single };
  return choice === undefined && !isSingle ? undefined : { type: 'auto', ...single };
}

/** A forced tool and thinking exclude each other: the tool is what the caller asked for in so many words. */
function renderThinking(request: NeutralRequest, maxTokens: number): JsonObject | undefined {
  const { reasoning, toolChoice, tools } = request;
  if (reasoning === undefined) return undefined;
  if (reasoning.enabled === false) return { type: 'disabled' };
  const isForced = toolChoice?.type === 'required' || toolChoice?.type === 'tool';
  if (isForced && tools.length > 0) return undefined;
  if (reasoning.maxTokens === undefined) return { type: 'adaptive' };
  // An unsigned call in progress cannot be gone on with under a budget: its thinking is not there to be given back.
  if (isInUnsignedToolLoop(request)) return undefined;
  const budget = Math.min(Math.max(reasoning.maxTokens, MIN_BUDGET), maxTokens - 1);
  return reasoning.maxTokens === 0 || budget < MIN_BUDGET ? undefined : { type: 'enabled', budget_tokens: budget };
}

function isInUnsignedToolLoop({ messages }: NeutralRequest): boolean {
  if (messages.at(-1)?.role !== 'tool') return false;
  const turn = messages.findLast((message) => message.role === 'assistant');
  return turn?.role === 'assistant' && !turn.content.some((part) => part.type === 'thinking');
}

function renderOutputConfig(request: NeutralRequest): JsonObject | undefined {
  const { reasoning, responseFormat } = request;
  const given = reasoning?.enabled === false ? undefined : reasoning?.effort;
  const effort = given === 'minimal' ? 'low' : given;
  const config = definedOnly({
    effort: effort !== undefined && EFFORTS.has(effort) ? effort : undefined,
    format: responseFormat?.type === 'json_schema' ? { type: 'json_schema', schema: responseFormat.schema } : undefined,
  });
  return Object.keys(config).length === 0 ? undefined : config;
}

function renderServiceTier(tier: string | undefined): string | undefined {
  if (tier === 'default' || tier === 'standard_only') return 'standard_only';
  return tier === 'auto' ? 'auto' : undefined;
}

/** The same long id always becomes the same 64 hex digits. */
function shortened(id: string): string {
  return id.length <= MAX_USER_LENGTH ? id : sha256Hex(id);
}

function definedOnly(fields: JsonObject): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
