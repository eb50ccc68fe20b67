// A neutral request as the body of a Chat Completions call, for callers of another dialect.

import { isObject, type JsonObject } from './field-checks.ts';
import type { NeutralRequest, NeutralTool, ToolChoice } from './neutral.ts';
import { renderChatMessages } from './render-chat-messages.ts';
import { isClaudeModel } from './render-chat-reasoning.ts';
import { sha256Hex } from './sha256.ts';
import { SvcError } from './svc-error.ts';
import { createToolNameMap, type ToolNameMap } from './tool-names.ts';

/** `openrouter` takes extensions (cache marks, reasoning, files by URL); `openai` is the plain schema. */
export type ChatDialect = 'openrouter' | 'openai';

/** `model` is the routed one, `maxTokens` a cap that replaces the caller's. */
export type ChatRenderOptions = {
  readonly model: string;
  readonly maxTokens?: number;
  readonly dialect: ChatDialect;
  readonly sandboxField: boolean;
};

/** The plain schema's own limit on `stop`. */
const MAX_STOPS_OPENAI = 4;

/** `o1`, `o4-mini`, `gpt-5.1`, `codex-mini`, with or without `openai/` before them; not `gpt-oss` or `gpt-4o`. */
const REASONING_MODEL = /^(?:openai\/)?(?:o\d|gpt-(?:[5-9]|\d\d)|codex)/;

/** Longest `user` upstreams take; longer ones are sent as their hash. */
const MAX_USER_LENGTH = 128;
const MAX_SESSION_LENGTH = { openrouter: 256, openai: 64 } as const;

/** Thinking budgets, in tokens, up to which the plain schema's word for them is `low` or `medium`. */
const LOW_BUDGET = 4096;
const MEDIUM_BUDGET = 16_384;
/** Claude's own least thinking budget. */
const MIN_CLAUDE_BUDGET = 1024;

/** Throws INVALID_REQUEST or UNSUPPORTED_FEATURE for what this upstream has no words for. */
export function renderChatRequest(
  request: NeutralRequest,
  options: ChatRenderOptions,
): { body: Record<string, unknown>; toolNames: ToolNameMap } {
  const isOpenRouter = options.dialect === 'openrouter';
  const toolNames = createToolNameMap(namesIn(request));
  const maxTokens = renderMaxTokens(request, options);
  const body = definedOnly({
    model: options.model,
    messages: renderChatMessages(request.messages, { ...options, toolNames }),
    [maxTokensField(options.model, options.dialect)]: maxTokens,
    stream: request.stream ? true : undefined,
    stream_options: request.stream ? { include_usage: true } : undefined,
    temperature: request.temperature,
    top_p: request.topP,
    top_k: isOpenRouter ? request.topK : undefined,
    stop: renderStop(request, options.dialect),
    ...renderTools(request, options.dialect, toolNames),
    response_format: renderResponseFormat(request),
    ...renderReasoning(request, options, maxTokens),
    user: request.user === undefined ? undefined : shortened(request.user, MAX_USER_LENGTH),
    [isOpenRouter ? 'session_id' : 'prompt_cache_key']: renderSession(request, options.dialect),
    service_tier: renderServiceTier(request),
    n: request.choices > 1 ? request.choices : undefined,
    sandbox: options.sandboxField ? request.sandbox : undefined,
  });
  return { body, toolNames };
}

/** OpenAI's reasoning models refuse `max_tokens`; many servers of the plain schema know nothing else. */
export function maxTokensField(model: string, dialect: ChatDialect): 'max_tokens' | 'max_completion_tokens' {
  return dialect === 'openai' && REASONING_MODEL.test(model) ? 'max_completion_tokens' : 'max_tokens';
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

function renderMaxTokens(request: NeutralRequest, options: ChatRenderOptions): number | undefined {
  const maxTokens = options.maxTokens ?? request.maxTokens;
  if (maxTokens !== 0) return maxTokens;
  const message = 'max_tokens must be at least 1: warming a cache with 0 needs an upstream that speaks Messages';
  throw new SvcError('INVALID_REQUEST', message, { param: 'max_tokens' });
}

function renderStop(request: NeutralRequest, dialect: ChatDialect): readonly string[] | undefined {
  const { stop } = request;
  if (stop === undefined || stop.length === 0) return undefined;
  if (dialect === 'openrouter' || stop.length <= MAX_STOPS_OPENAI) return stop;
  const param = request.dialect === 'messages' ? 'stop_sequences' : 'stop';
  const message = `${param} must have at most ${MAX_STOPS_OPENAI} entries for this upstream`;
  throw new SvcError('UNSUPPORTED_FEATURE', message, { param });
}

/** A choice among no tools is refused by upstreams, so it goes with them. */
function renderTools(request: NeutralRequest, dialect: ChatDialect, toolNames: ToolNameMap): JsonObject {
  if (request.tools.length === 0) return {};
  return {
    tools: request.tools.map((tool) => renderTool(tool, dialect, toolNames)),
    tool_choice: request.toolChoice === undefined ? undefined : renderToolChoice(request.toolChoice, toolNames),
    parallel_tool_calls: request.parallelToolCalls,
  };
}

function renderTool(tool: NeutralTool, dialect: ChatDialect, toolNames: ToolNameMap): JsonObject {
  const definition = definedOnly({
    name: toolNames.toUpstream(tool.name),
    description: tool.description,
    parameters: tool.parameters,
    strict: tool.strict,
  });
  const mark = dialect === 'openrouter' ? tool.cacheControl : undefined;
  return definedOnly({ type: 'function', function: definition, cache_control: mark });
}

function renderToolChoice(choice: ToolChoice, toolNames: ToolNameMap): unknown {
  if (choice.type !== 'tool') return choice.type;
  return { type: 'function', function: { name: toolNames.toUpstream(choice.name) } };
}

/** Strict only where the schema means the same under it: strictness makes every property required. */
function renderResponseFormat(request: NeutralRequest): JsonObject | undefined {
  const format = request.responseFormat;
  if (format === undefined || format.type === 'json_object') return format;
  const { name, description, schema } = format;
  const strict = format.strict ?? (isStrictClean(schema) ? true : undefined);
  return { type: 'json_schema', json_schema: definedOnly({ name, description, schema, strict }) };
}

/** The depth is bounded by the body's own limit. */
function isStrictClean(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrictClean);
  if (!isObject(schema)) return true;
  const properties = schema['properties'];
  if (isObject(properties) || schema['type'] === 'object') {
    const required = Array.isArray(schema['required']) ? schema['required'] : [];
    const isClosed = schema['additionalProperties'] === false && isObject(properties);
    if (!isClosed || !Object.keys(properties).every((key) => required.includes(key))) return false;
  }
  return Object.values(schema).every(isStrictClean);
}

function renderReasoning(
  { reasoning }: NeutralRequest,
  options: ChatRenderOptions,
  maxTokens: number | undefined,
): JsonObject {
  if (reasoning === undefined) return {};
  if (options.dialect === 'openai') return { reasoning_effort: plainEffort(reasoning) };
  if (reasoning.enabled === false) return { reasoning: { enabled: false } };
  const budget = clampedBudget(reasoning.maxTokens, maxTokens, options.model);
  if (budget !== undefined) return { reasoning: budget > 0 ? { max_tokens: budget } : undefined };
  const effort = reasoning.effort === 'max' ? 'xhigh' : reasoning.effort;
  return { reasoning: definedOnly({ enabled: reasoning.enabled, effort }) };
}

/**
 * Thinking counts against `max_tokens`, and a budget that leaves nothing for the answer is refused. 0 where the least
 * that Claude takes does not fit either.
 */
function clampedBudget(budget: number | undefined, maxTokens: number | undefined, model: string): number | undefined {
  if (budget === undefined || maxTokens === undefined || budget < maxTokens) return budget;
  return isClaudeModel(model) && maxTokens <= MIN_CLAUDE_BUDGET ? 0 : maxTokens - 1;
}

function plainEffort(reasoning: NonNullable<NeutralRequest['reasoning']>): string | undefined {
  if (reasoning.enabled === false) return 'none';
  const { effort, maxTokens } = reasoning;
  if (effort !== undefined) return effort === 'xhigh' || effort === 'max' ? 'high' : effort;
  if (maxTokens === undefined) return undefined;
  if (maxTokens <= LOW_BUDGET) return 'low';
  return maxTokens <= MEDIUM_BUDGET ? 'medium' : 'high';
}

function renderSession(request: NeutralRequest, dialect: ChatDialect): string | undefined {
  return request.session === undefined ? undefined : shortened(request.session, MAX_SESSION_LENGTH[dialect]);
}

function renderServiceTier(request: NeutralRequest): string | undefined {
  if (request.dialect === 'chat') return request.serviceTier;
  if (request.serviceTier === 'standard_only') return 'default';
  return request.serviceTier === 'auto' ? 'auto' : undefined;
}

/** The same long id always becomes the same 64 hex digits. */
function shortened(id: string, maxLength: number): string {
  return id.length <= maxLength ? id : sha256Hex(id);
}

function definedOnly(fields: JsonObject): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
