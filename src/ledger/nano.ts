// Decimal USD strings ⇄ integer nano-dollars (1e-9 USD), exactly and without floats.

const NANO_PER_USD = 1_000_000_000;
const FRACTION_DIGITS_MAX = 9;
/** Ten digits before the point are more than a safe integer of nano-dollars can hold. */
const WHOLE_DIGITS_MAX = 10;

/**
 * Nano-dollars of a non-negative decimal string with at most nine fraction digits; undefined for anything else, and for
 * amounts over `Number.MAX_SAFE_INTEGER` nano-dollars (about nine million USD).
 */
export function parseUsd(text: unknown): number | undefined {
  if (typeof text !== 'string') return undefined;
  const point = text.indexOf('.');
  const whole = point === -1 ? text : text.slice(0, point);
  const fraction = point === -1 ? '' : text.slice(point + 1);
  if (!isDigits(whole, WHOLE_DIGITS_MAX)) return undefined;
  if (point !== -1 && !isDigits(fraction, FRACTION_DIGITS_MAX)) return undefined;
  const nano = Number(whole) * NANO_PER_USD + Number(fraction.padEnd(FRACTION_DIGITS_MAX, '0'));
  return Number.isSafeInteger(nano) ? nano : undefined;
}

/** The shortest decimal string of an amount: `0.00012345`, `12`, `-3.5`. Takes safe integers. */
export function renderUsd(nano: number): string {
  const size = Math.abs(nano);
  const fraction = size % NANO_PER_USD;
  const whole = (size - fraction) / NANO_PER_USD;
  const sign = nano < 0 ? '-' : '';
  if (fraction === 0) return `${sign}${whole}`;
  let digits = String(fraction).padStart(FRACTION_DIGITS_MAX, '0');
  while (digits.endsWith('0')) digits = digits.slice(0, -1);
  return `${sign}${whole}.${digits}`;
}

function isDigits(text: string, lengthMax: number): boolean {
  if (text.length === 0 || text.length > lengthMax) return false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code < 48 || code > 57) return false;
  }
  return true;
}
