// What one API key has spent: for ever, by UTC day and by UTC month, and what it holds now.

export type SpendPeriod = 'total' | 'day' | 'month';

/** A few periods are kept, not one, so that a clock that jumps ahead and back again does not empty a budget. */
const PERIODS_KEPT = 4;
const MS_PER_DAY = 86_400_000;

/** JSON of what was charged; what is held follows from the open holds. Periods are UTC days or months with their sums. */
export type KeySpendState = {
  readonly totalNano: number;
  readonly days: readonly (readonly [period: number, nano: number])[];
  readonly months: readonly (readonly [period: number, nano: number])[];
};

export class KeySpend {
  heldNano = 0;
  #totalNano = 0;
  readonly #days: Map<number, number>;
  readonly #months: Map<number, number>;

  constructor(state: KeySpendState = { totalNano: 0, days: [], months: [] }) {
    this.#totalNano = state.totalNano;
    this.#days = new Map(state.days);
    this.#months = new Map(state.months);
  }

  state(): KeySpendState {
    return { totalNano: this.#totalNano, days: [...this.#days], months: [...this.#months] };
  }

  charge(nano: number, atMs: number): void {
    this.#totalNano += nano;
    addTo(this.#days, utcDay(atMs), nano);
    addTo(this.#months, utcMonth(atMs), nano);
  }

  /** Charged in the period `nowMs` lies in, plus everything held. */
  spentNano(period: SpendPeriod, nowMs: number): number {
    if (period === 'total') return this.#totalNano + this.heldNano;
    const charged = period === 'day' ? this.#days.get(utcDay(nowMs)) : this.#months.get(utcMonth(nowMs));
    return (charged ?? 0) + this.heldNano;
  }
}

/** Days since 1970, UTC. */
export function utcDay(ms: number): number {
  return Math.floor(ms / MS_PER_DAY);
}

function utcMonth(ms: number): number {
  const date = new Date(ms);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

/** The periods charged last are kept, in that order, whatever their dates: a clock may have been years ahead. */
function addTo(periods: Map<number, number>, period: number, nano: number): void {
  const before = periods.get(period) ?? 0;
  periods.delete(period);
  periods.set(period, before + nano);
  if (periods.size <= PERIODS_KEPT) return;
  for (const oldest of periods.keys()) {
    periods.delete(oldest);
    return;
  }
}
