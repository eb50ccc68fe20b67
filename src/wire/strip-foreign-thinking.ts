// Takes thinking that Claude never signed out of a Messages body, and leaves every other byte.

import { isObject, type JsonObject } from './field-checks.ts';
import { type JsonBody, scanJsonObject, toBuffer } from './json-scan.ts';
import { arrayItems } from './json-spans.ts';
import { unsealReasoning } from './parse-reasoning.ts';

/**
 * The raw text of `messages` without thinking that is unsigned or sealed by svc for another vendor's model: a Messages
 * upstream refuses the whole request for it. A turn that had nothing else goes too. Undefined where there is none.
 */
export function stripForeignThinking(body: JsonBody): string | undefined {
  const messages = body.value['messages'];
  if (!Array.isArray(messages) || !messages.some(hasForeign)) return undefined;
  const field = body.fields.findLast(({ key }) => key === 'messages');
  if (field === undefined) return undefined;
  const bytes = toBuffer(body.bytes).subarray(field.valueStart, field.valueEnd);
  return keepItems(bytes, (index, item) => {
    const message: unknown = messages[index];
    return hasForeign(message) ? strippedTurn(item, message) : item;
  }).toString('utf8');
}

function hasForeign(message: unknown): message is JsonObject & { content: readonly unknown[] } {
  if (!isObject(message) || message['role'] !== 'assistant') return false;
  return Array.isArray(message['content']) && message['content'].some(isForeign);
}

function isForeign(block: unknown): boolean {
  if (!isObject(block)) return false;
  if (block['type'] === 'redacted_thinking') return isSeal(block['data']);
  if (block['type'] !== 'thinking') return false;
  return block['signature'] === undefined || block['signature'] === '' || isSeal(block['signature']);
}

function isSeal(proof: unknown): boolean {
  return typeof proof === 'string' && unsealReasoning(proof) !== undefined;
}

function strippedTurn(item: Buffer, { content }: { readonly content: readonly unknown[] }): Buffer | undefined {
  if (content.every(isForeign)) return undefined;
  const field = scanJsonObject(item).fields.findLast(({ key }) => key === 'content');
  if (field === undefined) return item;
  const kept = keepItems(item.subarray(field.valueStart, field.valueEnd), (index, block) =>
    isForeign(content[index]) ? undefined : block,
  );
  return Buffer.concat([item.subarray(0, field.valueStart), kept, item.subarray(field.valueEnd)]);
}

/** `change` gives an item's new bytes, or undefined to take it out with a comma and the white space on one side. */
function keepItems(array: Buffer, change: (index: number, item: Buffer) => Buffer | undefined): Buffer {
  const spans = arrayItems(array, { start: 0, end: array.length });
  const pieces: Buffer[] = [array.subarray(0, spans[0]?.start ?? array.length)];
  let isFirst = true;
  for (const [index, { start, end }] of spans.entries()) {
    const item = change(index, array.subarray(start, end));
    if (item === undefined) continue;
    if (!isFirst) pieces.push(array.subarray(spans[index - 1]?.end ?? start, start));
    pieces.push(item);
    isFirst = false;
  }
  pieces.push(array.subarray(spans.at(-1)?.end ?? array.length));
  return Buffer.concat(pieces);
}
