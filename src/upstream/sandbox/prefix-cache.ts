// Counts the tokens of a prompt and how many of them a prefix seen before covers, in steps, as prompt caches bill them.

import { endOfToken } from './sandbox-tokens.ts';

/** A part of a prompt: text, or something (an image) that counts a fixed number of tokens and is known by a short text. */
export type PromptPart = string | { readonly tokens: number; readonly known: string };

type PromptCount = { readonly tokens: number; readonly cachedTokens: number };

export type PrefixCache = {
  /** Counts a prompt for a model and remembers its prefixes. */
  measure(model: string, parts: readonly PromptPart[]): PromptCount;
};

/** Cached tokens come in multiples of this. */
export const CACHE_STEP_TOKENS = 64;
/** About 3 million tokens of prompts; the oldest prefixes are forgotten first. */
const MAX_PREFIXES = 50_000;

export function createPrefixCache(maxPrefixes: number = MAX_PREFIXES): PrefixCache {
  const seen = new Set<number>();
  return {
    measure(model, parts) {
      const { tokens, prefixes } = hashPrefixes(model, parts);
      const unseen = prefixes.findIndex((prefix) => !seen.has(prefix));
      const known = unseen === -1 ? prefixes.length : unseen;
      for (const prefix of prefixes) {
        // Taken out and put in again, a prefix is the youngest.
        seen.delete(prefix);
        seen.add(prefix);
      }
      for (const oldest of seen) {
        if (seen.size <= maxPrefixes) break;
        seen.delete(oldest);
      }
      return { tokens, cachedTokens: known * CACHE_STEP_TOKENS };
    },
  };
}

/** One hash per full step: of everything from the start up to there. */
function hashPrefixes(model: string, parts: readonly PromptPart[]): { tokens: number; prefixes: number[] } {
  const hash = { low: 0x811c9dc5, high: 0x9dc5811c };
  const prefixes: number[] = [];
  let tokens = 0;
  const count = (more: number): void => {
    const before = Math.floor(tokens / CACHE_STEP_TOKENS);
    tokens += more;
    for (let step = before; step < Math.floor(tokens / CACHE_STEP_TOKENS); step++) {
      mix(hash, String(step));
      prefixes.push((hash.high & 0x1fffff) * 2 ** 32 + (hash.low >>> 0));
    }
  };
  mix(hash, model);
  for (const part of parts) {
    // Without a mark between parts, "ab" + "c" would look like "a" + "bc".
    mix(hash, '\0');
    if (typeof part !== 'string') {
      mix(hash, part.known);
      count(part.tokens);
      continue;
    }
    for (let at = 0; at < part.length; ) {
      const end = endOfToken(part, at);
      mixRange(hash, part, at, end);
      count(1);
      at = end;
    }
  }
  return { tokens, prefixes };
}

type Hash = { low: number; high: number };

function mix(hash: Hash, text: string): void {
  mixRange(hash, text, 0, text.length);
}

/** FNV-1a in two lanes: 53 bits of it are enough to tell prompts apart. */
function mixRange(hash: Hash, text: string, from: number, to: number): void {
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at);
    hash.low = Math.imul(hash.low ^ code, 0x01000193);
    hash.high = Math.imul(hash.high ^ (code + 0x9e37), 0x01000193);
  }
}
