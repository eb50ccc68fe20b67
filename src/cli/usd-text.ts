// USD amounts as people read them, computed on the decimal strings of the API without floating point.

const ATTO_DIGITS = 18;
const DECIMAL = /^(-?)(\d{1,30})(?:\.(\d{1,18})\d*)?$/;
const SIGNIFICANT_DIGITS = 3;
const CENT_DIGITS = 2;

/**
 * Short: two decimals from one dollar up, three significant digits below (`$12.35`, `$0.000123`), rounded half up.
 * Text that is no decimal is given back as it is.
 */
export function usdText(amount: string): string {
  const parsed = parseDecimal(amount);
  if (parsed === undefined) return amount;
  const { atto } = parsed;
  const digits = decimalsFor(atto);
  const unit = 10n ** BigInt(ATTO_DIGITS - digits);
  return `${parsed.negative ? '-' : ''}$${fixed(((atto + unit / 2n) / unit) * unit, digits)}`;
}

/** Exact: every digit the amount has, at least the cents. */
export function usdExact(amount: string): string {
  const parsed = parseDecimal(amount);
  if (parsed === undefined) return amount;
  const text = fixed(parsed.atto, ATTO_DIGITS);
  const shortest = text.replace(/0+$/, '');
  const dot = shortest.indexOf('.');
  return `${parsed.negative ? '-' : ''}$${shortest.padEnd(dot + 1 + CENT_DIGITS, '0')}`;
}

/** The sum as a decimal string; amounts that are no decimals count nothing. */
export function sumUsd(amounts: readonly string[]): string {
  let atto = 0n;
  for (const amount of amounts) {
    const parsed = parseDecimal(amount);
    if (parsed !== undefined) atto += parsed.negative ? -parsed.atto : parsed.atto;
  }
  const text = fixed(atto < 0n ? -atto : atto, ATTO_DIGITS).replace(/\.?0+$/, '');
  return atto < 0n ? `-${text}` : text;
}

/** Whether `text` is a positive amount as the API takes it: at most nine decimals. */
export function isPositiveUsd(text: string): boolean {
  return /^\d{1,9}(\.\d{1,9})?$/.test(text) && /[1-9]/.test(text);
}

function parseDecimal(text: string): { readonly negative: boolean; readonly atto: bigint } | undefined {
  const match = DECIMAL.exec(text);
  if (match === null) return undefined;
  const atto = BigInt(`${match[2] ?? '0'}${(match[3] ?? '').padEnd(ATTO_DIGITS, '0')}`);
  return { negative: match[1] === '-' && atto !== 0n, atto };
}

/** Decimals that show three significant digits, and never fewer than the cents. */
function decimalsFor(atto: bigint): number {
  if (atto === 0n || atto >= 10n ** BigInt(ATTO_DIGITS)) return CENT_DIGITS;
  const leadingZeros = ATTO_DIGITS - atto.toString().length;
  const wanted = Math.min(ATTO_DIGITS, leadingZeros + SIGNIFICANT_DIGITS);
  const unit = 10n ** BigInt(ATTO_DIGITS - wanted);
  const shown = ((atto + unit / 2n) / unit).toString();
  // `$0.500` says no more than `$0.50`.
  const trailing = shown.length - shown.replace(/0+$/, '').length;
  return Math.max(CENT_DIGITS, wanted - trailing);
}

function fixed(atto: bigint, digits: number): string {
  const text = atto.toString().padStart(ATTO_DIGITS + 1, '0');
  return `${text.slice(0, -ATTO_DIGITS)}.${text.slice(-ATTO_DIGITS, text.length - ATTO_DIGITS + digits)}`;
}
