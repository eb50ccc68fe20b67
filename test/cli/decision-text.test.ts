// The decision as people read it, on wide, narrow and absent terminals.

import { describe, expect, it } from 'vitest';
import { renderDecision } from '../../src/cli/decision-text.ts';
import { createPaint } from '../../src/cli/output.ts';
import { textWidth } from '../../src/cli/text-width.ts';
import { candidate, DECISION, flip } from './helpers/samples.ts';

const plain = createPaint(false);
const render = (decision: typeof DECISION, width = Number.POSITIVE_INFINITY): string =>
  renderDecision(decision, { width, paint: plain });

describe('renderDecision', () => {
  it('shows all of it, line by line', () => {
    const shown = { ...DECISION, candidates: [candidate('maker/a'), candidate('maker/b', { estimated: true })] };
    expect(render(shown)).toBe(
      [
        'svc:auto → maker/model-0',
        'task     coding / computer_science, medium (difficulty 0.42, confidence 0.87)',
        'needs    120 tokens in, 4096 out at most, tools',
        'weights  speed 50, quality 50, cost 50 (svc:auto)',
        'why      It is good enough and the cheapest.',
        '',
        'MODEL      SCORE  QUALITY        SPEED          COST                 USD    TTFT',
        'maker/a    0.813  ██████░░ 0.75  ████░░░░ 0.50  ████████ 1.00  $0.000123  420 ms',
        'maker/b ~  0.813  ██████░░ 0.75  ████░░░░ 0.50  ████████ 1.00  $0.000123  420 ms',
        '~ abilities are an estimate',
        '',
        'it would be',
        '  with speed 0, quality 100, cost 0 → maker/model-3',
        '  with 50000 input tokens → maker/model-4',
        '  with 64 output tokens at most → maker/model-5',
        '',
        'excluded  3 (2 × context too small, 1 × no tools)',
        '',
      ].join('\n'),
    );
  });

  it('shows the first ten candidates and how many more there are', () => {
    const text = render(DECISION);
    expect(text).toContain('maker/model-9');
    expect(text).not.toContain('maker/model-10');
    expect(text).toContain('and 2 more\n');
  });

  it('fits the table into 80 columns without losing one', () => {
    const table = render(DECISION, 80)
      .split('\n')
      .filter((line) => /^(MODEL|maker)/.test(line));
    expect(table).toHaveLength(11);
    expect(table[0]).toMatch(/MODEL.*SCORE.*QUALITY.*SPEED.*COST.*USD.*TTFT/);
    for (const line of table) expect(textWidth(line)).toBeLessThanOrEqual(80);
  });

  it('wraps what is long, under itself', () => {
    const why = 'It is good enough for this prompt and the cheapest of all that are, by far and for long.';
    const text = render({ ...DECISION, why }, 60);
    expect(text).toMatch(/\nwhy {6}It is good enough[^\n]*\n {9}\S/);
    expect(text.replace(/\n {9}/g, ' ')).toContain(why);
    for (const line of text.split('\n')) expect(textWidth(line)).toBeLessThanOrEqual(60);
  });

  it('leaves out what there is not', () => {
    const real = { ...DECISION, preset: null, weights: null, flips: [], excluded: [], candidates: [candidate('a/b')] };
    const text = render(real);
    for (const absent of ['weights', 'it would be', 'excluded', 'more', 'estimate', 'sticky']) {
      expect(text).not.toContain(absent);
    }
  });

  it('says nothing of an output limit that was not set', () => {
    const text = render({ ...DECISION, needs: { ...DECISION.needs, max_output_tokens: 0 } });
    expect(text).toContain('needs    120 tokens in, tools\n');
  });

  it('says when the conversation keeps its model', () => {
    expect(render({ ...DECISION, sticky: true })).toContain('sticky   yes');
  });

  it('names the commonest reasons for exclusion only', () => {
    const excluded = ['d', 'a', 'b', 'a', 'c', 'e'].map((reason, index) => ({ model: `m${index}`, reason }));
    expect(render({ ...DECISION, excluded })).toContain('excluded  6 (2 × a, 1 × d, 1 × b, others)');
  });

  it('lets no model name or reason drive the terminal', () => {
    const evil = '\u001b]0;evil\u0007';
    const text = render({
      ...DECISION,
      requested: evil,
      chosen: evil,
      why: evil,
      candidates: [candidate(evil)],
      excluded: [{ model: 'x', reason: evil }],
      flips: [flip({ input_tokens: 1 }, evil)],
    });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none may be left.
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  });
});
