// One embeddings request of the sandbox: checked, and answered or failed as it asks for.

import type { ServerResponse } from 'node:http';
import type { SandboxState } from './answer-completion.ts';
import { failBeforeAnswer } from './fail-before-answer.ts';
import { parseSandboxEmbeddings, renderEmbeddings } from './sandbox-embeddings.ts';
import { SandboxRefusal, sendJson } from './sandbox-http.ts';

/** Throws a `SandboxRefusal` for what OpenRouter would refuse. */
export async function answerEmbeddings(body: unknown, res: ServerResponse, state: SandboxState): Promise<void> {
  const request = parseSandboxEmbeddings(body);
  const model = state.models.get(request.model);
  if (model === undefined) throw new SandboxRefusal(400, `${request.model} is not a valid model ID`);
  const gone = new AbortController();
  res.on('close', () => gone.abort());
  if (await failBeforeAnswer(res, false, request.controls, gone.signal)) return;
  if (!model.outputModalities.includes('embeddings')) {
    throw new SandboxRefusal(404, `No endpoints found that make embeddings with ${model.id}`);
  }
  const price = Number(model.pricing?.['prompt'] ?? 0);
  const text = JSON.stringify(renderEmbeddings(request, Number.isFinite(price) ? price : 0));
  sendJson(res, 200, request.controls.fail === 'truncate' ? text.slice(0, text.length / 2) : text);
}
