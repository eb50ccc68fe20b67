// A number from 0 to 1 as a bar of block characters.

const FULL = '█';
const EMPTY = '░';

/** Exactly `width` columns; values outside 0 to 1 are taken as the nearer end. */
export function renderBar(value: number, width: number): string {
  const share = Number.isFinite(value) ? Math.min(1, Math.max(0, value)) : 0;
  const full = Math.round(share * width);
  return FULL.repeat(full) + EMPTY.repeat(width - full);
}
