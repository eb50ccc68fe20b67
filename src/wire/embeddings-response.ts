// Whole answers of an upstream's embeddings: checked while their bytes pass through, with the cost set into their usage.

import { spliceUsageCost } from './chat-response.ts';
import { type ChargedCount, parseChatUsage } from './chat-usage.ts';
import { isObject, type JsonObject } from './field-checks.ts';
import { type JsonBody, scanJsonObject } from './json-scan.ts';
import type { Usage } from './neutral.ts';
import { findUpstreamError } from './parse-chat-answer.ts';
import { SvcError } from './svc-error.ts';

export type EmbeddingsInspection = {
  readonly usage: Usage | undefined;
  readonly usageMissing: readonly ChargedCount[];
  readonly anomalies: readonly string[];
  /** The answer's bytes with `usage.cost` set to this plain decimal; unchanged where there is no usage. */
  withCost(costDecimal: string): Uint8Array;
};

/**
 * Throws UPSTREAM_INVALID_RESPONSE for what holds no vectors, and the upstream's own error where it put one into a 200.
 * `inputs` is how many vectors were asked for.
 */
export function inspectEmbeddingsResponse(bytes: Uint8Array, inputs: number): EmbeddingsInspection {
  const body = scanAnswer(bytes);
  const error = findUpstreamError(body.value);
  if (error !== undefined) throw error;
  checkVectors(body.value['data'], inputs);
  const parsed = parseUsage(body.value['usage']);
  return {
    usage: parsed?.usage,
    usageMissing: parsed?.missing ?? [],
    anomalies: parsed?.anomalies ?? [],
    withCost: (costDecimal) => spliceUsageCost(body, costDecimal),
  };
}

/** Vectors are the input read: there is no output to count, and some upstreams say the total alone. */
function parseUsage(usage: unknown): ReturnType<typeof parseChatUsage> {
  if (!isObject(usage)) return undefined;
  const prompt = usage['prompt_tokens'] ?? usage['total_tokens'];
  if (prompt === undefined) return undefined;
  const counted: JsonObject = { ...usage, prompt_tokens: prompt, completion_tokens: 0 };
  return parseChatUsage(counted);
}

function checkVectors(data: unknown, inputs: number): void {
  if (!Array.isArray(data) || data.length === 0) throw invalidAnswer('has no embeddings');
  if (data.length !== inputs) throw invalidAnswer(`has ${data.length} embeddings where ${inputs} were asked for`);
  for (const row of data) {
    const vector: unknown = isObject(row) ? row['embedding'] : undefined;
    // Base64 is a text; a vector of numbers is an array.
    const good = typeof vector === 'string' ? vector !== '' : Array.isArray(vector) && vector.length > 0;
    if (!good) throw invalidAnswer('has an entry without an embedding');
  }
}

function scanAnswer(bytes: Uint8Array): JsonBody {
  try {
    return scanJsonObject(bytes);
  } catch (cause) {
    throw invalidAnswer('is not a JSON object', cause);
  }
}

function invalidAnswer(what: string, cause?: unknown): SvcError {
  return new SvcError('UPSTREAM_INVALID_RESPONSE', `The upstream's answer ${what}.`, { cause });
}
