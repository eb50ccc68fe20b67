// SHA-256 in plain arithmetic, for the few short names and ids the translation has to shorten; wire/ takes no crypto.

/** The digest of the text's UTF-8 bytes as 64 lower-case hex digits. */
export function sha256Hex(text: string): string {
  const constants = firstPrimes(64).map((prime) => fraction(Math.cbrt(prime)));
  const state = firstPrimes(8).map((prime) => fraction(Math.sqrt(prime)));
  const words = padded(Buffer.from(text));
  for (let block = 0; block < words.length; block += 16) compress(state, words.slice(block, block + 16), constants);
  return state.map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}

/** The message as big-endian words: its bytes, a one bit, zeros, its length in bits. */
function padded(bytes: Buffer): number[] {
  const length = (((bytes.length + 8) >> 6) + 1) * 64;
  const block = Buffer.alloc(length);
  bytes.copy(block);
  block[bytes.length] = 0x80;
  block.writeUIntBE(bytes.length * 8, length - 6, 6);
  return Array.from({ length: length / 4 }, (_, index) => block.readInt32BE(index * 4));
}

function compress(state: number[], block: readonly number[], constants: readonly number[]): void {
  const schedule = [...block];
  for (let index = 16; index < 64; index += 1) {
    const early = at(schedule, index - 15);
    const late = at(schedule, index - 2);
    const mixed = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3);
    const remixed = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10);
    schedule.push((at(schedule, index - 16) + mixed + at(schedule, index - 7) + remixed) | 0);
  }
  let [a, b, c, d, e, f, g, h] = state as [number, number, number, number, number, number, number, number];
  for (let index = 0; index < 64; index += 1) {
    const choose = (e & f) ^ (~e & g);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    const first = (h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + choose) | 0;
    const next = (first + at(constants, index) + at(schedule, index)) | 0;
    const second = ((rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + majority) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + next) | 0, c, b, a, (next + second) | 0];
  }
  for (const [index, word] of [a, b, c, d, e, f, g, h].entries()) state[index] = (at(state, index) + word) | 0;
}

function at(words: readonly number[], index: number): number {
  return words[index] ?? 0;
}

function rotate(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}

/** The first 32 bits after the binary point. */
function fraction(root: number): number {
  return Math.floor((root - Math.floor(root)) * 2 ** 32) | 0;
}

function firstPrimes(count: number): number[] {
  const primes: number[] = [];
  for (let candidate = 2; primes.length < count; candidate += 1) {
    if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate);
  }
  return primes;
}
