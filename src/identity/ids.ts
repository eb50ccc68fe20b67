// Ids: a prefix that says what the thing is, and random base62.

import { encodePairs } from './base62.ts';

/** 128 bits: enough that ids made by many daemons never meet. */
export const ID_BYTES = 16;

const ID_PATTERN = /^[a-z]+_[0-9A-Za-z]{1,64}$/;
const ID_LENGTH_MAX = 80;

/** `<prefix>_<base62>`. Prefixes in use: acc, ws, key, req, ue, gr, dec, ses. `random` holds 1 to 42 bytes, best `ID_BYTES`. */
export function makeId(prefix: string, random: Uint8Array): string {
  return `${prefix}_${encodePairs(random)}`;
}

/** Whether text from outside looks like an id of that kind. */
export function isId(prefix: string, text: string): boolean {
  return text.length <= ID_LENGTH_MAX && text.startsWith(`${prefix}_`) && ID_PATTERN.test(text);
}
