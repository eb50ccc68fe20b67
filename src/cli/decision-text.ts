// Renders a decision for people: what was chosen, from what, why, and what would change it.

import type { CandidateView, DecisionView, WeightsView } from '../api/types.ts';
import { renderBar } from './bar.ts';
import { renderFields } from './field-list.ts';
import type { Output } from './output.ts';
import { type Column, renderTable } from './table.ts';
import { printable } from './text-width.ts';
import { usdText } from './usd-text.ts';

type Look = Pick<Output, 'width' | 'paint'>;

const CANDIDATES_SHOWN = 10;
const FLIPS_SHOWN = 5;
const REASONS_SHOWN = 3;
/** From this width on, bars are longer and say their number. */
const WIDE_COLUMNS = 110;
const BAR_WIDE = 8;
const BAR_NARROW = 6;

/** Several lines, the last ended by a line feed. */
export function renderDecision(decision: DecisionView, look: Look): string {
  const { paint } = look;
  const rest = decision.candidates.length - CANDIDATES_SHOWN;
  const parts = [
    `${paint.bold(printable(decision.requested))} → ${paint.bold(paint.green(printable(decision.chosen)))}\n`,
    renderFields(facts(decision), paint.dim, look.width),
    '\n',
    renderCandidates(decision.candidates.slice(0, CANDIDATES_SHOWN), look),
    rest > 0 ? paint.dim(`and ${rest} more\n`) : '',
    decision.candidates.some(({ estimated }) => estimated) ? paint.dim('~ abilities are an estimate\n') : '',
    renderAfter(decision, look),
  ];
  return parts.join('');
}

function facts({ classification, needs, preset, weights, why, sticky }: DecisionView): [string, string][] {
  const difficulty = `difficulty ${number(classification.difficulty)}, confidence ${number(classification.confidence)}`;
  return [
    ['task', `${classification.task_type} / ${classification.domain}, ${classification.complexity} (${difficulty})`],
    ['needs', needsText(needs)],
    ['weights', weights === null ? '' : `${weightsText(weights)}${preset === null ? '' : ` (${preset})`}`],
    ['sticky', sticky ? 'yes: the conversation has a model already' : ''],
    ['why', why],
  ];
}

function renderCandidates(candidates: readonly CandidateView[], look: Look): string {
  const wide = look.width >= WIDE_COLUMNS;
  const bar = (value: number): string =>
    wide ? `${renderBar(value, BAR_WIDE)} ${number(value)}` : renderBar(value, BAR_NARROW);
  const columns: readonly Column[] = [
    { header: 'MODEL', shrinks: true },
    { header: 'SCORE', align: 'right', paint: look.paint.bold },
    { header: 'QUALITY' },
    { header: 'SPEED' },
    { header: 'COST' },
    { header: 'USD', align: 'right' },
    { header: 'TTFT', align: 'right' },
  ];
  const rows = candidates.map((candidate) => [
    `${candidate.model}${candidate.estimated ? ' ~' : ''}`,
    candidate.score.toFixed(3),
    bar(candidate.quality),
    bar(candidate.speed),
    bar(candidate.cost),
    usdText(candidate.estimated_cost),
    `${Math.round(candidate.estimated_ttft_ms)} ms`,
  ]);
  return renderTable(columns, rows, { width: look.width, header: look.paint.dim });
}

function renderAfter({ flips, excluded }: DecisionView, { paint }: Look): string {
  const would = flips.slice(0, FLIPS_SHOWN).map((flip) => `  ${conditionText(flip.if)} → ${printable(flip.then)}\n`);
  const flipText = would.length === 0 ? '' : `\n${paint.dim('it would be')}\n${would.join('')}`;
  if (excluded.length === 0) return flipText;
  return `${flipText}\n${paint.dim('excluded')}  ${excluded.length} (${printable(reasonsText(excluded))})\n`;
}

function conditionText(condition: DecisionView['flips'][number]['if']): string {
  if (condition.weights !== undefined) return `with ${weightsText(condition.weights)}`;
  if (condition.input_tokens !== undefined) return `with ${condition.input_tokens} input tokens`;
  return `with ${condition.max_output_tokens ?? '?'} output tokens at most`;
}

/** The commonest reasons with their counts: `12 too small a context, 3 …`. */
function reasonsText(excluded: DecisionView['excluded']): string {
  const counts = new Map<string, number>();
  for (const { reason } of excluded) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  const shown = sorted.slice(0, REASONS_SHOWN).map(([reason, count]) => `${count} × ${reason}`);
  return [...shown, ...(sorted.length > REASONS_SHOWN ? ['others'] : [])].join(', ');
}

function needsText(needs: DecisionView['needs']): string {
  const abilities = [
    needs.vision ? 'vision' : '',
    needs.tools ? 'tools' : '',
    needs.structured_output ? 'structured output' : '',
    needs.reasoning ? 'reasoning' : '',
  ].filter((ability) => ability !== '');
  // Zero stands for a prompt that set no limit.
  const output = needs.max_output_tokens > 0 ? [`${needs.max_output_tokens} out at most`] : [];
  return [`${needs.input_tokens} tokens in`, ...output, ...abilities].join(', ');
}

function weightsText({ speed, quality, cost }: WeightsView): string {
  return `speed ${speed}, quality ${quality}, cost ${cost}`;
}

function number(value: number): string {
  return value.toFixed(2);
}
