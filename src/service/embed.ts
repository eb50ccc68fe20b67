// Embeddings: the road of a completion with another body, one attempt, and no output to pay for.

import { presetByModel } from '../routing/presets.ts';
import type { NeutralRequest } from '../wire/neutral.ts';
import { type EmbeddingsRequest, parseEmbeddingsRequest } from '../wire/parse-embeddings-request.ts';
import { SvcError } from '../wire/svc-error.ts';
import { attemptEmbedding } from './attempt-embedding.ts';
import type { CallKind } from './call-kind.ts';
import type { Plan } from './completion.ts';
import { type PlanInput, planRequest } from './plan.ts';
import { sizeOfEmbeddings } from './request-size.ts';

/** Throws what a completion throws; a virtual model is an `INVALID_MODEL`, since vectors of two models can't be compared. */
export const EMBEDDING: CallKind = {
  format: 'embeddings',

  parse(body) {
    const embeddings = parseEmbeddingsRequest(body.value);
    return { body, request: neutralOf(embeddings), embeddings };
  },

  size: ({ body, embeddings }) => sizeOfEmbeddings(embeddings, body.bytes.length),

  plan: (input, { embeddings }) => planEmbedding(input, embeddings),

  attempt: attemptEmbedding,
};

/** What routing, the hold and the usage entry look at. */
function neutralOf({ model, texts, svc }: EmbeddingsRequest): NeutralRequest {
  return {
    dialect: 'chat',
    model,
    messages: [{ role: 'user', content: texts.map((text) => ({ type: 'text', text })) }],
    tools: [],
    maxTokens: 0,
    stream: false,
    includeUsage: false,
    choices: 1,
    ...(svc === undefined ? {} : { svc }),
  };
}

function planEmbedding(input: PlanInput, embeddings: EmbeddingsRequest | undefined): Plan {
  if (presetByModel(input.request.model)) {
    throw new SvcError(
      'INVALID_MODEL',
      `${input.request.model} is virtual: embeddings need a real model, since vectors of different models can't be compared.`,
      { param: 'model' },
    );
  }
  const plan: Plan = { ...planRequest(input), unclassified: true };
  const { tokenIds = 0 } = embeddings ?? {};
  if (tokenIds === 0) return plan;
  const needs = { ...plan.needs, input_tokens: tokenIds };
  return { ...plan, needs, summary: { ...plan.summary, needs: { ...needs } } };
}
