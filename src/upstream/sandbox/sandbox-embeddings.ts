// The sandbox's embeddings: vectors that depend on the input alone, so that equal texts have equal vectors.

import { createHash } from 'node:crypto';
import { isJsonRecord, type JsonRecord } from './json-record.ts';
import { parseSandboxControls, type SandboxControls } from './sandbox-faults.ts';
import { SandboxRefusal } from './sandbox-http.ts';
import { parseSandboxModels, type SandboxModel } from './sandbox-models.ts';
import { countTokens } from './sandbox-tokens.ts';
import { seededRandom } from './seeded-random.ts';

export type SandboxEmbeddings = {
  readonly model: string;
  readonly inputs: readonly (string | readonly number[])[];
  readonly dimensions: number;
  readonly isBase64: boolean;
  readonly controls: SandboxControls;
};

const DIMENSIONS = 256;
const DIMENSIONS_MAX = 4096;
const INPUTS_MAX = 2048;

/** What makes vectors, beside the catalogue's models. */
export function sandboxEmbeddingModels(): readonly SandboxModel[] {
  return parseSandboxModels({
    models: [
      {
        id: 'sandbox/text-embedding',
        name: 'Text Embedding',
        created: '2026-01-01',
        context_length: 8192,
        output_modalities: ['embeddings'],
        pricing: { prompt: '0.00000002', completion: '0' },
      },
    ],
  });
}

export function parseSandboxEmbeddings(body: unknown): SandboxEmbeddings {
  if (!isJsonRecord(body)) throw new SandboxRefusal(400, 'The body must be a JSON object.');
  const model = body['model'];
  if (typeof model !== 'string' || model === '') throw new SandboxRefusal(400, '`model` is required.');
  const format = body['encoding_format'] ?? 'float';
  if (format !== 'float' && format !== 'base64') {
    throw new SandboxRefusal(400, '`encoding_format` must be "float" or "base64".');
  }
  return {
    model,
    inputs: parseInputs(body['input']),
    dimensions: parseDimensions(body['dimensions']),
    isBase64: format === 'base64',
    controls: parseSandboxControls(body['sandbox']),
  };
}

/** The body of the answer. `price`: USD per token. */
export function renderEmbeddings(request: SandboxEmbeddings, price: number): JsonRecord {
  const tokens = request.inputs.reduce((sum, input) => sum + tokensOf(input), 0);
  const usage = { prompt_tokens: tokens, total_tokens: tokens, cost: Number((tokens * price).toFixed(12)) };
  return {
    object: 'list',
    model: request.model,
    data: request.inputs.map((input, index) => ({ object: 'embedding', index, embedding: vectorOf(input, request) })),
    ...(request.controls.fail === 'no_usage' ? {} : { usage }),
  };
}

/** Of length 1, as clients compare them by their dot product. */
function vectorOf(input: string | readonly number[], request: SandboxEmbeddings): string | number[] {
  const digest = createHash('sha256').update(request.model).update('\0').update(JSON.stringify(input)).digest();
  const random = seededRandom(digest.readUInt32BE(0));
  const raw = Array.from({ length: request.dimensions }, () => random() * 2 - 1);
  const length = Math.hypot(...raw);
  const vector = Float32Array.from(raw, (each) => each / length);
  return request.isBase64 ? Buffer.from(vector.buffer).toString('base64') : [...vector];
}

function tokensOf(input: string | readonly number[]): number {
  return typeof input === 'string' ? countTokens(input) : input.length;
}

function parseInputs(input: unknown): readonly (string | readonly number[])[] {
  if (typeof input === 'string') return [nonEmpty(input)];
  if (!Array.isArray(input) || input.length === 0 || input.length > INPUTS_MAX) {
    throw new SandboxRefusal(400, `\`input\` must be a text or an array of 1 to ${INPUTS_MAX} of them.`);
  }
  const items: readonly unknown[] = input;
  return items.every((item) => typeof item === 'number') ? [items] : items.map(parseInput);
}

function parseInput(item: unknown): string | readonly number[] {
  if (typeof item === 'string') return nonEmpty(item);
  const ids: readonly unknown[] = Array.isArray(item) ? item : [];
  if (ids.length > 0 && ids.every((id) => typeof id === 'number')) return ids;
  throw new SandboxRefusal(400, '`input` must hold texts or arrays of token ids.');
}

function nonEmpty(text: string): string {
  if (text === '') throw new SandboxRefusal(400, '`input` must not be empty.');
  return text;
}

function parseDimensions(value: unknown): number {
  if (value === undefined || value === null) return DIMENSIONS;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= DIMENSIONS_MAX) return value;
  throw new SandboxRefusal(400, `\`dimensions\` must be a whole number from 1 to ${DIMENSIONS_MAX}.`);
}
