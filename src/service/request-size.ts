// How big a request is where money is concerned: the images in it, and the base64 bytes that are not text.

import { inputTokensBound } from '../ledger/input-bound.ts';
import type { NeutralRequest } from '../wire/neutral.ts';

export type RequestSize = {
  readonly images: number;
  /** Never below the true count of input tokens. */
  readonly inputTokensMax: number;
};

export function sizeOf(request: NeutralRequest, bodyBytes: number): RequestSize {
  let images = 0;
  let imageDataBytes = 0;
  for (const message of request.messages) {
    for (const part of message.content) {
      if (part.type !== 'image') continue;
      images += 1;
      imageDataBytes += part.data?.length ?? 0;
    }
  }
  return { images, inputTokensMax: inputTokensBound(bodyBytes, imageDataBytes, images) };
}
