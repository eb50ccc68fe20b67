// One completion of the sandbox: checked, composed, and sent whole or as a stream, with the fault the request asks for.

import type { ServerResponse } from 'node:http';
import { renderBrokenWhole, renderWhole } from './completion-json.ts';
import { composeAnswer } from './compose-answer.ts';
import type { Delivery } from './delivery.ts';
import { failBeforeAnswer } from './fail-before-answer.ts';
import type { PrefixCache } from './prefix-cache.ts';
import { SandboxRefusal, sendJson } from './sandbox-http.ts';
import type { SandboxModel } from './sandbox-models.ts';
import { parseSandboxRequest, type SandboxRequest } from './sandbox-request.ts';
import { countPrompt, renderUsage } from './sandbox-usage.ts';
import { sendStream } from './send-stream.ts';
import { paceOf, pause, wholeAnswerMs } from './stream-pace.ts';

export type SandboxState = {
  readonly models: ReadonlyMap<string, SandboxModel>;
  readonly cache: PrefixCache;
  readonly paceScale: number;
  readonly now: () => number;
};

/** Throws a `SandboxRefusal` for what OpenRouter would refuse. */
export async function answerCompletion(body: unknown, res: ServerResponse, state: SandboxState): Promise<void> {
  const request = parseSandboxRequest(body);
  const model = state.models.get(request.model);
  if (model === undefined) throw new SandboxRefusal(400, `${request.model} is not a valid model ID`);
  const gone = goneSignal(res);
  if (await failBeforeAnswer(res, request.stream, request.controls, gone)) return;
  if (!model.outputModalities.includes('text')) throw new SandboxRefusal(404, `${model.id} does not answer in text`);
  refuseUnsupported(request, model);
  const prompt = countPrompt(request, state.cache);
  refuseTooLong(request, model, prompt.tokens);
  const answer = composeAnswer(request, model.maxOutputTokens);
  const delivery: Delivery = {
    res,
    gone,
    head: { id: answer.id, created: Math.floor(state.now() / 1000), model: model.id },
    answer,
    usage: renderUsage(model, prompt, answer.completionTokens),
    pace: paceOf(model, request.controls.pace ?? state.paceScale),
    controls: request.controls,
    includeUsage: request.includeUsage,
  };
  await (request.stream ? sendStream(delivery) : sendWhole(delivery));
}

function refuseUnsupported(request: SandboxRequest, model: SandboxModel): void {
  const hasImages = request.messages.some(({ images }) => images.length > 0);
  if (hasImages && !model.inputModalities.includes('image')) {
    throw new SandboxRefusal(404, 'No endpoints found that support image input');
  }
  const known = model.supportedParameters;
  if (request.tools.length > 0 && known.length > 0 && !known.includes('tools')) {
    throw new SandboxRefusal(404, 'No endpoints found that support tool use');
  }
}

function refuseTooLong(request: SandboxRequest, model: SandboxModel, promptTokens: number): void {
  const wanted = request.maxTokens ?? 0;
  if (promptTokens + wanted <= model.contextLength) return;
  throw new SandboxRefusal(
    400,
    `This endpoint's maximum context length is ${model.contextLength} tokens. However, you requested about ` +
      `${promptTokens + wanted} tokens (${promptTokens} of text input, ${wanted} in the output).`,
  );
}

async function sendWhole(delivery: Delivery): Promise<void> {
  const { res, gone, head, answer, controls } = delivery;
  await pause(wholeAnswerMs(delivery.pace, answer.completionTokens), gone);
  if (gone.aborted) return;
  const body = renderWhole(head, answer, controls.fail === 'no_usage' ? undefined : delivery.usage);
  if (controls.fail === 'truncate') return sendJson(res, 200, body.slice(0, body.length / 2));
  if (controls.fail === 'broken_sse') return sendJson(res, 200, `The sandbox was told to send no JSON.`);
  if (controls.fail === 'error_event') return sendJson(res, 200, renderBrokenWhole(head, controls.message));
  sendJson(res, 200, body);
}

function goneSignal(res: ServerResponse): AbortSignal {
  const controller = new AbortController();
  res.on('close', () => controller.abort());
  return controller.signal;
}
