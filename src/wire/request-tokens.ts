// About how many input tokens a whole request is, by the rules that Anthropic documents for its models.

import { imageSize } from './image-size.ts';
import type { ContentPart, FilePart, ImagePart, NeutralMessage, NeutralRequest, ToolCall } from './neutral.ts';
import { textTokens } from './token-estimate.ts';

/** Marks of the conversation, and of each turn in it. */
const REQUEST_TOKENS = 3;
const TURN_TOKENS = 4;
/** The hidden system prompt that tools bring: where the model may choose, and where it must call one. */
const TOOLS_AUTO_TOKENS = 346;
const TOOLS_FORCED_TOKENS = 313;
/** Marks around a definition, a call or a result. */
const TOOL_TOKENS = 8;

/** Pixels in a token; larger images are scaled down to this edge and this many tokens. */
const PIXELS_PER_TOKEN = 750;
const IMAGE_EDGE_MAX = 1568;
const IMAGE_TOKENS_MAX = 1600;
/** Of an image that can't be seen from here: about 1,000 × 1,000 pixels. */
const IMAGE_TOKENS_UNKNOWN = 1334;

/** A page is read as text, of which 1,500 to 3,000 tokens are usual, and as an image. */
const PAGE_TOKENS = 2250 + 1560;
/** Where the pages are packed away and can't be counted. */
const PAGE_BYTES = 60_000;

/** Characters looked at in all texts together; of those that come later, parts stand for the whole. */
const LOOK_TOTAL = 512 * 1024;
const LOOK_SHORT = 2000;

/** Never throws. The thinking of turns that are over is not counted: models do not get it again. */
export function requestTokens(request: NeutralRequest): number {
  let tokens = REQUEST_TOKENS + toolsTokens(request);
  const lastUser = request.messages.findLastIndex(({ role }) => role === 'user');
  let looked = 0;
  for (const [index, message] of request.messages.entries()) {
    tokens += messageTokens(message, index > lastUser, looked < LOOK_TOTAL ? undefined : LOOK_SHORT);
    looked += textLength(message);
  }
  if (request.responseFormat?.type === 'json_schema') tokens += jsonTokens(request.responseFormat.schema);
  return Math.ceil(tokens);
}

function textLength({ content }: NeutralMessage): number {
  const parts: readonly { readonly text?: string }[] = content.map((part) => ('text' in part ? part : {}));
  return parts.reduce((sum, { text = '' }) => sum + text.length, 0);
}

function messageTokens(message: NeutralMessage, isOpenTurn: boolean, lookMax: number | undefined): number {
  let tokens = message.role === 'tool' ? TOOL_TOKENS : TURN_TOKENS;
  for (const part of message.content) {
    if (part.type === 'thinking') tokens += isOpenTurn ? textTokens(part.text, lookMax) : 0;
    else tokens += partTokens(part, lookMax);
  }
  return tokens;
}

function partTokens(part: ContentPart | ToolCall, lookMax: number | undefined): number {
  switch (part.type) {
    case 'text':
      return textTokens(part.text, lookMax);
    case 'image':
      return imageTokens(part);
    case 'file':
      return fileTokens(part);
    case 'tool_call':
      return TOOL_TOKENS + textTokens(part.name) + textTokens(part.arguments);
    case 'opaque':
      return jsonTokens(part.value);
  }
}

function imageTokens({ data }: ImagePart): number {
  const size = data === undefined ? undefined : imageSize(data);
  if (size === undefined) return IMAGE_TOKENS_UNKNOWN;
  const scale = Math.min(1, IMAGE_EDGE_MAX / Math.max(size.width, size.height));
  const tokens = (size.width * scale * (size.height * scale)) / PIXELS_PER_TOKEN;
  return Math.min(IMAGE_TOKENS_MAX, Math.ceil(tokens));
}

function fileTokens({ data, mediaType }: FilePart): number {
  if (data === undefined) return PAGE_TOKENS;
  const bytes = Buffer.from(data, 'base64');
  if (mediaType?.startsWith('text/')) return textTokens(bytes.toString('utf8'));
  const pages = bytes.toString('latin1').match(/\/Type\s{0,8}\/Page(?![a-zA-Z])/g)?.length ?? 0;
  return PAGE_TOKENS * (pages > 0 ? pages : Math.max(1, Math.round(bytes.length / PAGE_BYTES)));
}

function toolsTokens({ tools, toolChoice }: NeutralRequest): number {
  if (tools.length === 0) return 0;
  const isForced = toolChoice?.type === 'required' || toolChoice?.type === 'tool';
  let tokens = isForced ? TOOLS_FORCED_TOKENS : TOOLS_AUTO_TOKENS;
  for (const { name, description = '', parameters } of tools) {
    tokens += TOOL_TOKENS + textTokens(name) + textTokens(description) + jsonTokens(parameters);
  }
  return tokens;
}

function jsonTokens(value: unknown): number {
  return textTokens(JSON.stringify(value) ?? '');
}
