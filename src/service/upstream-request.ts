// The body that goes upstream: the caller's own bytes with what must change spliced in, or the neutral form rendered.

import type { Upstream } from '../upstream/upstream.ts';
import { spliceFields } from '../wire/json-scan.ts';
import { renderChatRequest } from '../wire/render-chat-request.ts';
import { createToolNameMap, type ToolNameMap } from '../wire/tool-names.ts';
import type { ParsedRequest } from './completion.ts';

export type UpstreamBody = { readonly bytes: Uint8Array; readonly toolNames: ToolNameMap };

export function upstreamBody(
  { body, request }: ParsedRequest,
  upstream: Upstream,
  model: string,
  injectedMaxTokens: number | undefined,
): UpstreamBody {
  if (request.dialect === 'chat') {
    const set: Record<string, string> = {};
    if (model !== request.model) set['model'] = JSON.stringify(model);
    if (request.stream && !request.includeUsage)
      set['stream_options'] = JSON.stringify(streamOptions(body.value['stream_options']));
    if (injectedMaxTokens !== undefined) set['max_tokens'] = String(injectedMaxTokens);
    const remove = upstream.takesSandboxField ? ['svc'] : ['svc', 'sandbox'];
    return { bytes: spliceFields(body, set, remove), toolNames: createToolNameMap([]) };
  }
  const maxTokens = request.maxTokens ?? injectedMaxTokens;
  const rendered = renderChatRequest(request, {
    model,
    dialect: upstream.dialect,
    sandboxField: upstream.takesSandboxField,
    ...(maxTokens === undefined ? {} : { maxTokens }),
  });
  return { bytes: Buffer.from(JSON.stringify(rendered.body)), toolNames: rendered.toolNames };
}

/** svc always asks for usage: it is what the charge is measured by. */
function streamOptions(given: unknown): Record<string, unknown> {
  const options = typeof given === 'object' && given !== null ? { ...given } : {};
  return { ...options, include_usage: true };
}
