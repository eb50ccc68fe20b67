// Decimal price strings to exact integers and nano-dollars back to decimal strings; no floating point in between.

/** Nano-dollars per million tokens in one USD per token. */
export const PER_TOKEN_DIGITS = 15;
/** Nano-dollars in one USD. */
export const NANO_DIGITS = 9;

/** Longer texts are no price, and BigInt on them would be work for nothing. */
const PRICE_LENGTH_MAX = 48;
const EXPONENT_MAX = 30;
const DECIMAL = /^(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,2}))?$/;

/**
 * `text` × 10^`digits` as an integer; what is finer is rounded up. `"0.00000015"` with 15 digits is 150,000,000.
 * Undefined when it is no plain non-negative decimal (an exponent is understood) or too big to stay exact.
 */
export function parseScaledDecimal(text: string, digits: number): number | undefined {
  if (text.length > PRICE_LENGTH_MAX) return undefined;
  const match = DECIMAL.exec(text);
  if (!match) return undefined;
  const [, whole = '', fraction = '', exponentText = '0'] = match;
  const exponent = Number(exponentText);
  if (whole + fraction === '' || Math.abs(exponent) > EXPONENT_MAX) return undefined;
  const scaled = scale(BigInt(whole + fraction), digits + exponent - fraction.length);
  return scaled <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(scaled) : undefined;
}

/** Nano-dollars as a decimal string in USD, the shortest: 123,450 is `"0.00012345"`. Fractions are rounded up. */
export function renderNanoUsd(nano: number): string {
  const digits = String(Math.ceil(nano)).padStart(NANO_DIGITS + 1, '0');
  const whole = digits.slice(0, -NANO_DIGITS);
  let end = NANO_DIGITS;
  const fraction = digits.slice(-NANO_DIGITS);
  while (end > 0 && fraction[end - 1] === '0') end -= 1;
  return end === 0 ? whole : `${whole}.${fraction.slice(0, end)}`;
}

function scale(value: bigint, power: number): bigint {
  if (power >= 0) return value * 10n ** BigInt(power);
  const divisor = 10n ** BigInt(-power);
  return (value + divisor - 1n) / divisor;
}
