// Content blocks that any Messages turn may hold, checked and made neutral.

import {
  checkLength,
  invalidField,
  isObject,
  type JsonObject,
  optionalString,
  requiredString,
} from './field-checks.ts';
import type { ContentPart } from './neutral.ts';
import { MAX_CONTENT_PARTS } from './request-limits.ts';
import { SvcError } from './svc-error.ts';

/** A document made of blocks becomes several parts; kinds svc does not know stay whole. */
export function parseContentBlock(block: JsonObject, path: string): readonly ContentPart[] {
  switch (block['type']) {
    case 'text':
      return [marked({ type: 'text', text: requiredString(block, 'text', path, true) }, block)];
    case 'image':
      return [marked(parseImage(sourceOf(block, path), `${path}.source`), block)];
    case 'document':
      return parseDocument(block, path);
    default:
      return [{ type: 'opaque', dialect: 'messages', value: block }];
  }
}

function sourceOf(block: JsonObject, path: string): JsonObject {
  const source = block['source'];
  if (!isObject(source)) throw invalidField(`${path}.source`, 'is required and must be an object with a type');
  if (source['type'] !== 'file') return source;
  const param = `${path}.source.type`;
  const hint = 'send the data as base64 or a url';
  throw new SvcError('UNSUPPORTED_FEATURE', `${param}: files by id are not available here; ${hint}.`, { param });
}

function parseImage(source: JsonObject, path: string): ContentPart {
  if (source['type'] === 'base64') {
    const mediaType = requiredString(source, 'media_type', path);
    return { type: 'image', mediaType, data: requiredString(source, 'data', path) };
  }
  if (source['type'] === 'url') return { type: 'image', url: requiredString(source, 'url', path) };
  throw invalidField(`${path}.type`, 'must be "base64" or "url"');
}

function parseDocument(block: JsonObject, path: string): readonly ContentPart[] {
  const source = sourceOf(block, path);
  const at = `${path}.source`;
  const title = optionalString(block, 'title', path);
  const filename = title === undefined || title === '' ? {} : { filename: title };
  const context = optionalString(block, 'context', path);
  switch (source['type']) {
    case 'base64': {
      const mediaType = requiredString(source, 'media_type', at);
      const file: ContentPart = { type: 'file', mediaType, data: requiredString(source, 'data', at), ...filename };
      return [...introOf(undefined, context), marked(file, block)];
    }
    case 'url': {
      const file: ContentPart = { type: 'file', url: requiredString(source, 'url', at), ...filename };
      return [...introOf(undefined, context), marked(file, block)];
    }
    case 'text':
      return [
        ...introOf(title, context),
        marked({ type: 'text', text: requiredString(source, 'data', at, true) }, block),
      ];
    case 'content':
      return [...introOf(title, context), ...parseChildren(source['content'], `${at}.content`, block)];
    default:
      throw invalidField(`${at}.type`, 'must be "base64", "url", "text" or "content"');
  }
}

/** What a document says of itself and no field of its parts can hold, as a text before them. */
function introOf(title: string | undefined, context: string | undefined): readonly ContentPart[] {
  const lines = [title ? `[document: ${title}]` : '', context ?? ''].filter((line) => line !== '');
  return lines.length === 0 ? [] : [{ type: 'text', text: lines.join('\n') }];
}

/** The document's cache mark goes to its last child. */
function parseChildren(content: unknown, path: string, block: JsonObject): readonly ContentPart[] {
  if (typeof content === 'string') return [marked({ type: 'text', text: content }, block)];
  if (!Array.isArray(content)) throw invalidField(path, 'must be a string or an array of blocks');
  checkLength(content, MAX_CONTENT_PARTS, path);
  const parts = content.map((child: unknown, index): ContentPart => {
    const at = `${path}[${index}]`;
    if (isObject(child) && child['type'] === 'text')
      return marked({ type: 'text', text: requiredString(child, 'text', at, true) }, child);
    if (isObject(child) && child['type'] === 'image')
      return marked(parseImage(sourceOf(child, at), `${at}.source`), child);
    throw invalidField(at, 'must be a text or an image block');
  });
  const last = parts.at(-1);
  return last === undefined ? parts : parts.with(-1, marked(last, block));
}

function marked<T extends ContentPart>(part: T, block: JsonObject): T {
  const mark = block['cache_control'];
  return isObject(mark) ? { ...part, cacheControl: mark } : part;
}
