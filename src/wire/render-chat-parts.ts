// Neutral content parts as Chat content: a string where one text is all there is, typed parts otherwise.

import { renderDataUrl } from './data-url.ts';
import { renderExactJson } from './exact-json.ts';
import { isObject, type JsonObject } from './field-checks.ts';
import type { ContentPart, FilePart, ImagePart } from './neutral.ts';
import type { ChatDialect } from './render-chat-request.ts';
import { SvcError } from './svc-error.ts';

/** Empty texts are left out: upstreams refuse them. What is empty then is `''`, so that the turn stays. */
export function renderChatContent(content: readonly ContentPart[], dialect: ChatDialect): string | JsonObject[] {
  const parts = content.filter((part) => part.type !== 'text' || part.text !== '');
  const [only] = parts;
  if (only === undefined) return '';
  const isMarked = dialect === 'openrouter' && 'cacheControl' in only;
  if (parts.length === 1 && only.type === 'text' && !isMarked) return only.text;
  return parts.map((part) => renderChatPart(part, dialect));
}

export function renderChatPart(part: ContentPart, dialect: ChatDialect): JsonObject {
  if (part.type === 'opaque') return renderOpaque(part, dialect);
  const mark = dialect === 'openrouter' && part.cacheControl !== undefined ? { cache_control: part.cacheControl } : {};
  if (part.type === 'text') return { type: 'text', text: part.text, ...mark };
  if (part.type === 'image') return { ...renderImage(part), ...mark };
  return { ...renderFile(part, dialect), ...mark };
}

/** What Chat has no part for is shown to the model as the JSON it was, never dropped. */
function renderOpaque(part: Extract<ContentPart, { type: 'opaque' }>, dialect: ChatDialect): JsonObject {
  if (part.dialect === 'chat') return part.value;
  const { cache_control: mark, ...shown } = part.value as { cache_control?: unknown };
  const text = renderExactJson(mark === undefined ? part.value : shown);
  return { type: 'text', text, ...(dialect === 'openrouter' && isObject(mark) ? { cache_control: mark } : {}) };
}

function renderImage(part: ImagePart): JsonObject {
  const url = part.data === undefined ? part.url : renderDataUrl(part.mediaType ?? 'image/png', part.data);
  return { type: 'image_url', image_url: part.detail === undefined ? { url } : { url, detail: part.detail } };
}

function renderFile(part: FilePart, dialect: ChatDialect): JsonObject {
  if (part.data === undefined && dialect === 'openai') {
    const hint = 'send its data as base64';
    throw new SvcError('UNSUPPORTED_FEATURE', `A document by url is not available at this upstream; ${hint}.`);
  }
  const data = part.data === undefined ? part.url : renderDataUrl(part.mediaType ?? 'application/pdf', part.data);
  return { type: 'file', file: { filename: part.filename ?? 'document.pdf', file_data: data } };
}
