// The content parts of Responses items, made neutral.

import { parseDataUrl } from './data-url.ts';
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

/** A string, or an array of parts. `path` names the field that holds it. */
export function parseResponsesContent(content: unknown, path: string): readonly ContentPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content)) {
    const found = content === undefined || content === null ? 'is required and ' : '';
    throw invalidField(path, `${found}must be a string or an array of parts`);
  }
  checkLength(content, MAX_CONTENT_PARTS, path);
  return content.map((part: unknown, index) => parsePart(part, path, index));
}

function parsePart(part: unknown, parent: string, index: number): ContentPart {
  const type = isObject(part) ? part['type'] : undefined;
  if (!isObject(part) || typeof type !== 'string') {
    throw invalidField(`${parent}[${index}]`, 'must be an object with a type, like {"type": "input_text", "text": …}');
  }
  switch (type) {
    case 'input_text':
    case 'output_text':
    case 'text':
    case 'summary_text':
    case 'reasoning_text':
      return { type: 'text', text: requiredString(part, 'text', `${parent}[${index}]`, true) };
    case 'refusal':
      return { type: 'text', text: requiredString(part, 'refusal', `${parent}[${index}]`, true) };
    case 'input_image':
      return parseImage(part, `${parent}[${index}]`);
    case 'input_file':
      return parseFile(part, `${parent}[${index}]`);
    case 'input_audio':
      // Chat has the same part.
      return { type: 'opaque', dialect: 'chat', value: part };
    default:
      return { type: 'opaque', dialect: 'responses', value: part };
  }
}

function parseImage(part: JsonObject, path: string): ContentPart {
  if (optionalString(part, 'image_url', path) === undefined) refuseFileId(part, path, 'image_url');
  const url = requiredString(part, 'image_url', path);
  const detail = optionalString(part, 'detail', path);
  const source = parseDataUrl(url) ?? { url };
  if (detail === undefined) return { type: 'image', ...source };
  // Chat has no word for more than high.
  return { type: 'image', ...source, detail: detail === 'original' ? 'high' : detail };
}

function parseFile(part: JsonObject, path: string): ContentPart {
  const data = optionalString(part, 'file_data', path);
  const url = optionalString(part, 'file_url', path);
  const filename = optionalString(part, 'filename', path);
  const named = filename === undefined ? {} : { filename };
  if (data !== undefined) return { type: 'file', ...named, ...(parseDataUrl(data) ?? { data }) };
  if (url !== undefined) return { type: 'file', ...named, url };
  refuseFileId(part, path, 'file_data');
  throw invalidField(path, 'must have file_data or file_url');
}

function refuseFileId(part: JsonObject, path: string, instead: string): void {
  if (part['file_id'] === undefined || part['file_id'] === null) return;
  const message = `${path}.file_id is not available: no files are stored here. Send ${instead}.`;
  throw new SvcError('UNSUPPORTED_FEATURE', message, { param: `${path}.file_id` });
}
