// Neutral content parts as content blocks of a Messages call.

import type { JsonObject } from './field-checks.ts';
import type { ContentPart, FilePart, ImagePart, OpaquePart } from './neutral.ts';
import { SvcError } from './svc-error.ts';

/** Empty texts are left out: they are refused there. */
export function renderMessagesParts(parts: readonly ContentPart[]): JsonObject[] {
  return parts.filter((part) => part.type !== 'text' || part.text !== '').map(renderPart);
}

function renderPart(part: ContentPart): JsonObject {
  if (part.type === 'opaque') return renderOpaque(part);
  const mark = part.cacheControl === undefined ? {} : { cache_control: part.cacheControl };
  if (part.type === 'text') return { type: 'text', text: part.text, ...mark };
  if (part.type === 'image') return { type: 'image', source: imageSource(part), ...mark };
  const title = part.filename === undefined ? {} : { title: part.filename };
  return { type: 'document', source: fileSource(part), ...title, ...mark };
}

function imageSource({ mediaType, data, url }: ImagePart): JsonObject {
  if (data === undefined) return { type: 'url', url };
  return { type: 'base64', media_type: mediaType || 'image/png', data };
}

function fileSource({ mediaType, data, url }: FilePart): JsonObject {
  if (data === undefined) return { type: 'url', url };
  if (mediaType?.startsWith('text/')) {
    return { type: 'text', media_type: 'text/plain', data: Buffer.from(data, 'base64').toString('utf8') };
  }
  return { type: 'base64', media_type: mediaType || 'application/pdf', data };
}

/** Kinds that hold bytes or name things elsewhere: as text they would cost much and say nothing. */
const NOT_AS_TEXT: ReadonlySet<unknown> = new Set(['input_audio', 'video_url', 'input_video', 'file', 'input_file']);

/** What the dialect has no block for is shown to the model as the JSON it was, never dropped. */
function renderOpaque({ dialect, value }: OpaquePart): JsonObject {
  if (dialect === 'messages') return value;
  const type = value['type'];
  if (NOT_AS_TEXT.has(type)) {
    const message = `Content of type "${String(type)}" is not available at the upstream of this model.`;
    throw new SvcError('UNSUPPORTED_FEATURE', message, { param: 'messages' });
  }
  const refusal = type === 'refusal' ? value['refusal'] : undefined;
  return { type: 'text', text: typeof refusal === 'string' ? refusal : JSON.stringify(value) };
}
