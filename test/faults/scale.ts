// How much of a fault test is run: a short seeded part in the normal suite, all of it by `npm run test:faults`.

export const LONG = process.env['TEST_FAULTS'] === 'long';

export function scale(short: number, long: number): number {
  return LONG ? long : short;
}

/** mulberry32: the same numbers from 0 to 1 for the same seed, so that every run can be repeated. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
