// The router's dry run: the decision for a request of either dialect, with nothing sent upstream and nothing charged.

import type { Classification, Decision } from '../routing/decision.ts';
import { parseJsonBody } from '../wire/json-scan.ts';
import type { NeutralRequest } from '../wire/neutral.ts';
import { parseChatRequest } from '../wire/parse-chat-request.ts';
import { parseMessagesRequest } from '../wire/parse-messages-request.ts';
import { parseResponsesRequest } from '../wire/parse-responses-request.ts';
import { type CallerDeps, type CallerInput, identifyCaller } from './caller.ts';
import type { Offer } from './completion.ts';
import { planRequest } from './plan.ts';

export type PreviewInput = CallerInput & {
  /** Called once the caller is known: a stranger's body is never read. */
  readBody(): Promise<Buffer>;
  readonly skipRouting: boolean;
  readonly options: string | undefined;
};
export type RoutePreview = (input: PreviewInput) => Promise<Decision>;

export type PreviewDeps = CallerDeps & {
  offer(): Pick<Offer, 'catalog'>;
  readonly classify: (request: NeutralRequest) => Classification;
  makeId(prefix: string): string;
  readonly allowUnknownPrice: boolean;
};

export function createRoutePreview(deps: PreviewDeps): RoutePreview {
  return async (input) => {
    const caller = await identifyCaller(deps, input);
    const { value } = parseJsonBody(await input.readBody());
    const plan = planRequest({
      id: deps.makeId('dec'),
      request: parseAny(value),
      catalog: deps.offer().catalog,
      classify: deps.classify,
      preferences: deps.store.documents.preferencesOf(caller.workspace.id),
      principal: caller.principal,
      skipRouting: input.skipRouting,
      optionsHeader: input.options,
      allowUnknownPrice: deps.allowUnknownPrice,
      nowMs: deps.nowMs(),
    });
    return plan.decision();
  };
}

function parseAny(value: Readonly<Record<string, unknown>>): NeutralRequest {
  // Only a Responses body has its words under `input`.
  if ('input' in value && !('messages' in value)) return parseResponsesRequest(value);
  return looksLikeMessages(value) ? parseMessagesRequest(withMaxTokens(value)) : parseChatRequest(value);
}

/** The signs that only Messages bodies have: `system` beside the messages, its tool shape, its block types. */
function looksLikeMessages(value: Readonly<Record<string, unknown>>): boolean {
  if ('system' in value || 'thinking' in value || 'stop_sequences' in value) return true;
  const tools = value['tools'];
  if (Array.isArray(tools) && tools.some((tool) => isRecord(tool) && 'input_schema' in tool)) return true;
  const messages = value['messages'];
  if (!Array.isArray(messages)) return false;
  return messages.some(
    (message) => isRecord(message) && Array.isArray(message['content']) && message['content'].some(isMessagesBlock),
  );
}

const MESSAGES_BLOCKS = new Set(['image', 'document', 'tool_use', 'tool_result', 'thinking', 'redacted_thinking']);

function isMessagesBlock(part: unknown): boolean {
  return isRecord(part) && typeof part['type'] === 'string' && MESSAGES_BLOCKS.has(part['type']);
}

/** A dry run needs no `max_tokens`; a completion does. */
function withMaxTokens(value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return 'max_tokens' in value ? value : { ...value, max_tokens: 1024 };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
