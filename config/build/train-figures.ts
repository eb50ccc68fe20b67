// Figures of merit on held-out prompts, and the calibration fitted on them.
import { COMPLEXITIES, DOMAINS, TASK_TYPES } from '../../src/routing/decision.ts';

/** One held-out prompt: what it is and what the classifier said. */
export type Outcome = {
  readonly task: string;
  readonly taskSaid: string;
  readonly domain: string;
  readonly domainSaid: string;
  readonly complexity: string;
  readonly complexitySaid: string;
  readonly confidence: number;
  readonly lang: string;
};

export type ClassFigure = {
  readonly label: string;
  readonly count: number;
  readonly recall: number;
  readonly precision: number;
  readonly f1: number;
};

export type Figures = {
  readonly accuracy: number;
  readonly macroF1: number;
  readonly worst: ClassFigure;
  readonly classes: readonly ClassFigure[];
};

/** Figures over pairs of [true, said]; classes that never occur are left out. */
export function figures(labels: readonly string[], pairs: readonly (readonly [string, string])[]): Figures {
  const classes = labels.flatMap((label) => {
    const count = pairs.filter(([truth]) => truth === label).length;
    if (count === 0) return [];
    const hits = pairs.filter(([truth, said]) => truth === label && said === label).length;
    const said = pairs.filter(([, guess]) => guess === label).length;
    const recall = hits / count;
    const precision = said === 0 ? 0 : hits / said;
    const f1 = hits === 0 ? 0 : (2 * recall * precision) / (recall + precision);
    return [{ label, count, recall, precision, f1 }];
  });
  const worst = classes.reduce((low, next) => (next.recall < low.recall ? next : low));
  const hits = pairs.filter(([truth, said]) => truth === said).length;
  const macroF1 = classes.reduce((sum, { f1 }) => sum + f1, 0) / classes.length;
  return { accuracy: hits / pairs.length, macroF1, worst, classes };
}

/** The table that `npm run train` prints. */
export function renderFigures(outcomes: readonly Outcome[]): string {
  const task = figures(
    TASK_TYPES,
    outcomes.map(({ task, taskSaid }) => [task, taskSaid]),
  );
  const domain = figures(
    DOMAINS,
    outcomes.map(({ domain, domainSaid }) => [domain, domainSaid]),
  );
  const complexity = figures(
    COMPLEXITIES,
    outcomes.map(({ complexity, complexitySaid }) => [complexity, complexitySaid]),
  );
  const english = outcomes.filter(({ lang }) => lang === 'en');
  const others = outcomes.filter(({ lang }) => lang !== 'en');
  return [
    line('task', task),
    `  english ${percent(rightShare(english))} of ${english.length}, other languages ${percent(rightShare(others))} of ${others.length}`,
    ...task.classes.map(classLine),
    line('complexity', complexity),
    ...complexity.classes.map(classLine),
    line('domain', domain),
    `confidence: ${percent(mean(outcomes.map(({ confidence }) => confidence)))} said, ${percent(rightShare(outcomes))} right; ${confidenceBands(outcomes)}`,
  ].join('\n');
}

/** The two thresholds with the best complexity macro-F1 over pairs of [raw difficulty, complexity]. */
export function fitThresholds(pairs: readonly (readonly [number, string])[]): {
  simpleBelow: number;
  complexFrom: number;
} {
  let best = { simpleBelow: 1 / 3, complexFrom: 2 / 3, value: -1 };
  for (let low = 0.15; low < 0.6; low += 0.01) {
    for (let high = low + 0.05; high < 0.9; high += 0.01) {
      const said = pairs.map(
        ([raw, truth]) => [truth, raw < low ? 'simple' : raw < high ? 'medium' : 'complex'] as const,
      );
      const { macroF1 } = figures(COMPLEXITIES, said);
      if (macroF1 > best.value) best = { simpleBelow: low, complexFrom: high, value: macroF1 };
    }
  }
  return { simpleBelow: best.simpleBelow, complexFrom: best.complexFrom };
}

/** The temperature under which the held-out task scores are least surprised by the truth. */
export function fitTemperature(
  rows: readonly { readonly scores: readonly number[]; readonly truth: number }[],
): number {
  let best = { temperature: 1, loss: Number.POSITIVE_INFINITY };
  for (let temperature = 0.3; temperature < 6; temperature *= 1.04) {
    let loss = 0;
    for (const { scores, truth } of rows) loss += surprise(scores, truth, temperature);
    if (loss < best.loss) best = { temperature, loss };
  }
  return best.temperature;
}

function surprise(scores: readonly number[], truth: number, temperature: number): number {
  const top = Math.max(...scores);
  const total = scores.reduce((sum, score) => sum + Math.exp((score - top) / temperature), 0);
  return Math.log(total) - ((scores[truth] ?? 0) - top) / temperature;
}

function line(name: string, { accuracy, macroF1, worst }: Figures): string {
  return `${name}: accuracy ${percent(accuracy)}, macro-F1 ${percent(macroF1)}, worst recall ${percent(worst.recall)} (${worst.label})`;
}

function classLine({ label, count, recall, precision, f1 }: ClassFigure): string {
  return `  ${label.padEnd(14)} n ${String(count).padStart(4)}  recall ${percent(recall)}  precision ${percent(precision)}  F1 ${percent(f1)}`;
}

function confidenceBands(outcomes: readonly Outcome[]): string {
  return [0, 0.4, 0.6, 0.8]
    .map((from, index, all) => {
      const to = all[index + 1] ?? 1.01;
      const band = outcomes.filter(({ confidence }) => confidence >= from && confidence < to);
      return `${from}+ ${percent(rightShare(band))} of ${band.length}`;
    })
    .join(', ');
}

function rightShare(outcomes: readonly Outcome[]): number {
  return mean(outcomes.map(({ task, taskSaid }) => (task === taskSaid ? 1 : 0)));
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

function percent(value: number): string {
  return `${(value * 100).toFixed(1).padStart(5)}%`;
}
