// Secrets: API keys, session tokens and device codes. They carry a checksum, so that a wrong one is refused without a look-up.

import { hash, timingSafeEqual } from 'node:crypto';
import { base62Width, digitValue, encodeNumber, renderDigits } from './base62.ts';
import { crc32 } from './crc32.ts';

/** API key, session token, device code. */
export type SecretKind = 'svc_sk_' | 'svc_st_' | 'svc_dc_';

/** 256 bits, which are 43 base62 digits. */
export const SECRET_BYTES = 32;

const KIND_LENGTH = 7;
const BODY_END = KIND_LENGTH + base62Width(SECRET_BYTES);
const CHECKSUM_DIGITS = 6;
const SECRET_LENGTH = BODY_END + CHECKSUM_DIGITS;
const PREVIEW_LENGTH = 11;

/** `kind`, 43 digits of the 32 random bytes, and 6 digits of the CRC-32 over both. */
export function makeSecret(kind: SecretKind, random: Uint8Array): string {
  if (random.length !== SECRET_BYTES) throw new RangeError(`a secret takes ${SECRET_BYTES} random bytes`);
  const text = kind + encodeNumber(random);
  return text + renderDigits(crc32(text), CHECKSUM_DIGITS);
}

/** Whether the text has a secret's shape and its checksum. Says nothing on whether anyone was ever given it. */
export function checkSecret(kind: SecretKind, text: string): boolean {
  if (text.length !== SECRET_LENGTH || !text.startsWith(kind)) return false;
  for (let i = KIND_LENGTH; i < BODY_END; i += 1) {
    if (digitValue(text.charCodeAt(i)) < 0) return false;
  }
  return readChecksum(text) === crc32(text, BODY_END);
}

/** SHA-256 in hex: what is stored and looked up in a secret's place. */
export function digestOf(secret: string): string {
  return hash('sha256', secret, 'hex');
}

/** Compares two digests in a time that does not tell where they differ. */
export function sameDigest(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}

/** What may be shown of a secret, so that its owner can tell it from others. */
export function previewOf(secret: string): { readonly prefix: string; readonly last4: string } {
  return { prefix: secret.slice(0, PREVIEW_LENGTH), last4: secret.slice(-4) };
}

/** The number that the last digits spell; NaN when one of them is none. */
function readChecksum(text: string): number {
  let value = 0;
  for (let i = BODY_END; i < SECRET_LENGTH; i += 1) {
    const digit = digitValue(text.charCodeAt(i));
    value = digit < 0 ? Number.NaN : value * 62 + digit;
  }
  return value;
}
