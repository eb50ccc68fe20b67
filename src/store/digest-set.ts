// A set of very many texts in little memory: 16 bytes of each one's SHA-256, in one table.

import { hash } from 'node:crypto';

/** Four words of 32 bits a text. */
const WORDS = 4;
const SLOTS_MIN = 1_024;
/** Fuller than this, a search gets long. */
const LOAD_MAX = 0.75;

/**
 * Two different texts that count as one would have the same first 127 bits of SHA-256. The journal's chain rests on no
 * more, so whoever could make that happen could forge the journal itself.
 */
export class DigestSet {
  #words = new Uint32Array(SLOTS_MIN * WORDS);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(text: string): boolean {
    return this.#words[this.#find(digestOf(text))] !== 0;
  }

  /** False where it was in already. */
  add(text: string): boolean {
    const digest = digestOf(text);
    const place = this.#find(digest);
    if (this.#words[place] !== 0) return false;
    this.#words.set(digest, place);
    this.#size += 1;
    if (this.#size * WORDS > this.#words.length * LOAD_MAX) this.#grow();
    return true;
  }

  /** Where the digest is, or the free slot it would take. */
  #find(digest: Uint32Array): number {
    const words = this.#words;
    const mask = words.length / WORDS - 1;
    const [first = 0, second = 0, third = 0, fourth = 0] = digest;
    // The first word says that a slot is taken, so the second says where to look.
    for (let slot = second & mask; ; slot = (slot + 1) & mask) {
      const place = slot * WORDS;
      if (words[place] === 0) return place;
      if (words[place] !== first || words[place + 1] !== second) continue;
      if (words[place + 2] === third && words[place + 3] === fourth) return place;
    }
  }

  #grow(): void {
    const old = this.#words;
    this.#words = new Uint32Array(old.length * 2);
    for (let place = 0; place < old.length; place += WORDS) {
      if (old[place] === 0) continue;
      const digest = old.subarray(place, place + WORDS);
      this.#words.set(digest, this.#find(digest));
    }
  }
}

function digestOf(text: string): Uint32Array {
  const bytes = hash('sha256', text, 'buffer');
  // An odd first word is never zero, which is what marks a free slot.
  return Uint32Array.of(
    bytes.readUInt32LE(0) | 1,
    bytes.readUInt32LE(4),
    bytes.readUInt32LE(8),
    bytes.readUInt32LE(12),
  );
}
