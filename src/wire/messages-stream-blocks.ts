// The kinds of content blocks a Messages stream is made of.

import type { JsonObject } from './field-checks.ts';
import type { StreamBlock } from './messages-block-queue.ts';
import { sealReasoning } from './parse-reasoning.ts';

export function createTextBlock(): StreamBlock {
  return {
    kind: 'text',
    start: () => ({ type: 'text', text: '' }),
    isComplete: () => true,
    closingDelta: () => undefined,
  };
}

export function createRedactedBlock(data: string): StreamBlock {
  return {
    kind: 'redacted',
    start: () => ({ type: 'redacted_thinking', data }),
    isComplete: () => true,
    closingDelta: () => undefined,
  };
}

export interface ThinkingBlock extends StreamBlock {
  readonly kind: 'thinking';
  /** True once a signature has come: more thinking after it is another block. */
  isSigned(): boolean;
  sign(signature: string): void;
  /** Keeps a detail of another vendor; with an opaque one among them, they become the signature together. */
  keep(detail: JsonObject, isOpaque: boolean): void;
}

/** UTF-16 units of details kept for a seal; clients send the seal back with every turn. */
const MAX_KEPT_UNITS = 8 * 1024 * 1024;
const UNITS_PER_DETAIL = 64;

/** The signature goes out once and whole, at the end: SDKs overwrite it with each delta. */
export function createThinkingBlock(): ThinkingBlock {
  const details: JsonObject[] = [];
  let keptUnits = 0;
  let signature = '';
  let isSealed = false;
  return {
    kind: 'thinking',
    start: () => ({ type: 'thinking', thinking: '', signature: '' }),
    isComplete: () => true,
    closingDelta() {
      const whole = isSealed ? sealReasoning(details) : signature;
      return whole === '' ? undefined : { type: 'signature_delta', signature: whole };
    },
    isSigned: () => signature !== '',
    sign: (value) => {
      signature = value;
    },
    keep(detail, isOpaque) {
      isSealed ||= isOpaque;
      keptUnits += unitsOf(detail);
      if (keptUnits > MAX_KEPT_UNITS) throw new RangeError('too much reasoning to seal');
      mergeDetail(details, detail);
    },
  };
}

function unitsOf(detail: JsonObject): number {
  let units = UNITS_PER_DETAIL;
  for (const key in detail) {
    const value = detail[key];
    units += key.length + (typeof value === 'string' ? value.length : 0);
  }
  return units;
}

/** Details stream in pieces: text of the same kind and index goes on where the last one stopped. */
function mergeDetail(details: JsonObject[], detail: JsonObject): void {
  const last = details.at(-1);
  const isSame = last !== undefined && last['type'] === detail['type'] && last['index'] === detail['index'];
  if (!isSame || detail['type'] === 'reasoning.encrypted') {
    details.push(detail);
    return;
  }
  const joined: Record<string, unknown> = { ...last, ...detail };
  for (const key of ['text', 'summary']) {
    if (typeof last[key] === 'string' && typeof detail[key] === 'string') joined[key] = last[key] + detail[key];
  }
  details[details.length - 1] = joined;
}

export interface ToolBlock extends StreamBlock {
  readonly kind: 'tool';
  /** Ids and names come once; repeats are ignored. */
  identify(id: string, name: string): void;
  /** Follows the arguments to know where their object ends. */
  follow(text: string): void;
}

/** `chooseId` gives the id the caller sees, `toCallerName` the name it knows. */
export function createToolBlock(chooseId: (id: string) => string, toCallerName: (name: string) => string): ToolBlock {
  const balance = createBalance();
  let upstreamId = '';
  let upstreamName = '';
  return {
    kind: 'tool',
    start() {
      if (upstreamName === '') return undefined;
      return { type: 'tool_use', id: chooseId(upstreamId), name: toCallerName(upstreamName), input: {} };
    },
    isComplete: balance.isClosed,
    closingDelta: () => undefined,
    identify(id, name) {
      if (upstreamId === '') upstreamId = id;
      if (upstreamName === '') upstreamName = name;
    },
    follow: balance.follow,
  };
}

/** Whether the braces of JSON text that comes in pieces have closed; each character is looked at once. */
function createBalance(): { follow(text: string): void; isClosed(): boolean } {
  let depth = 0;
  let isOpened = false;
  let isInString = false;
  let isEscaped = false;

  function followInString(char: string): void {
    if (isEscaped) isEscaped = false;
    else if (char === '\\') isEscaped = true;
    else if (char === '"') isInString = false;
  }

  function followOutside(char: string): void {
    if (char === '"') isInString = true;
    else if (char === '{' || char === '[') {
      depth += 1;
      isOpened = true;
    } else if (char === '}' || char === ']') depth -= 1;
  }

  return {
    follow(text) {
      for (const char of text) {
        if (isInString) followInString(char);
        else followOutside(char);
      }
    },
    isClosed: () => isOpened && depth <= 0,
  };
}
