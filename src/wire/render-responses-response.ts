// A neutral answer as a Responses answer.

import type { JsonObject } from './field-checks.ts';
import type { NeutralResponse, Usage } from './neutral.ts';
import { type ResponseHead, renderResponseObject, renderResponsesUsage } from './responses-object.ts';
import { ResponsesOutput, type ResponsesOutputOptions } from './responses-output.ts';
import { detailsOfThinking } from './responses-reasoning-seal.ts';

export type ResponsesRenderOptions = Omit<ResponsesOutputOptions, 'emit'> & {
  readonly head: ResponseHead;
  /** USD as a decimal string. */
  readonly cost: string;
  /** What was charged. */
  readonly usage: Usage;
};

export function renderResponsesResponse(response: NeutralResponse, options: ResponsesRenderOptions): JsonObject {
  const output = new ResponsesOutput({ ...options, emit: () => undefined });
  addContent(output, response);
  output.finish(response.finishReason);
  const { head, cost, usage } = options;
  const model = response.model === '' ? head.model : response.model;
  return renderResponseObject(
    { ...head, model },
    {
      status: 'ended',
      finishReason: response.finishReason,
      output: output.items(),
      usage: renderResponsesUsage(usage, cost),
    },
  );
}

/** A refusal is said before any call, as in a stream. */
function addContent(output: ResponsesOutput, { content, refusal }: NeutralResponse): void {
  for (const [index, part] of content.entries()) {
    if (part.type === 'text') output.addText('output_text', part.text);
    if (part.type !== 'thinking') continue;
    output.addThinking(part.text);
    for (const detail of detailsOfThinking(part, index)) output.keepDetail(detail, true);
  }
  if (refusal !== undefined) output.addText('refusal', refusal);
  const calls = content.filter((part) => part.type === 'tool_call');
  for (const [slot, { id, name, arguments: text }] of calls.entries()) output.addCall({ slot, id, name }, text);
}
