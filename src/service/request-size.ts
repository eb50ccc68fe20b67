// How big a request is where money is concerned: the images in it, and the base64 bytes that are not text.

import { inputTokensBound } from '../ledger/input-bound.ts';
import type { NeutralRequest } from '../wire/neutral.ts';
import type { EmbeddingsRequest } from '../wire/parse-embeddings-request.ts';

export type RequestSize = {
  readonly images: number;
  /** Never below the true count of input tokens, unless `unbounded`. */
  readonly inputTokensMax: number;
  /** The request holds content whose size can't be told from its bytes: by URL, or packed as a PDF is. */
  readonly unbounded: boolean;
};

export function sizeOf(request: NeutralRequest, bodyBytes: number): RequestSize {
  let images = 0;
  let imageDataBytes = 0;
  let unbounded = false;
  for (const message of request.messages) {
    for (const part of message.content) {
      if (part.type === 'image' && isImage(part)) {
        images += 1;
        imageDataBytes += part.data?.length ?? 0;
      }
      if (isUnbounded(part)) unbounded = true;
    }
  }
  return { images, inputTokensMax: inputTokensBound(bodyBytes, imageDataBytes, images), unbounded };
}

/** Marks that an upstream puts around each input, and words of instruction that some put before it. */
const TOKENS_AROUND_INPUT = 64;

/** Token ids are counted as they are; texts have at most a token for each byte. */
export function sizeOfEmbeddings(embeddings: EmbeddingsRequest | undefined, bodyBytes: number): RequestSize {
  if (embeddings === undefined) return { images: 0, inputTokensMax: bodyBytes, unbounded: false };
  const textBytes = embeddings.texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const inputTokensMax = embeddings.tokenIds + textBytes + embeddings.inputs * TOKENS_AROUND_INPUT;
  return { images: 0, inputTokensMax, unbounded: false };
}

type Part = NeutralRequest['messages'][number]['content'][number];

/** Data of another kind under an image's name is counted by its bytes, like text. */
function isImage(part: Extract<Part, { type: 'image' }>): boolean {
  return part.data === undefined || part.mediaType === undefined || part.mediaType.startsWith('image/');
}

/** Bytes bound tokens where they are text or raw sound. A packed format says in a few bytes what is read as many tokens. */
function isUnbounded(part: Part): boolean {
  if (part.type === 'file') return part.data === undefined || !part.mediaType?.startsWith('text/');
  // What else svc does not know may be a link to anything.
  return part.type === 'opaque' && !isRawSound(part.value);
}

function isRawSound({ type, input_audio: audio }: Readonly<Record<string, unknown>>): boolean {
  if (type !== 'input_audio' || typeof audio !== 'object' || audio === null || !('format' in audio)) return false;
  return audio.format === 'wav' || audio.format === 'pcm16';
}
