import { describe, expect, it } from 'vitest';
import { parseSandboxModels } from '../../../src/upstream/sandbox/sandbox-models.ts';
import { paceOf, pause, untilGone, wholeAnswerMs } from '../../../src/upstream/sandbox/stream-pace.ts';

function model(ttft_ms: number, tokens_per_second: number) {
  const [parsed] = parseSandboxModels({ models: [{ id: 'm', ttft_ms, tokens_per_second }] });
  if (parsed === undefined) throw new Error('The row is a model.');
  return parsed;
}

describe('the pace', () => {
  it.each([
    ['is the model’s own', 400, 100, 1, 400, 10],
    ['keeps the first token within 2 s', 60_000, 100, 1, 2000, 10],
    ['keeps to 20 tokens a second at least', 400, 1, 1, 400, 50],
    ['is nothing at scale 0', 400, 100, 0, 0, 0],
    ['is half at scale 0.5', 400, 100, 0.5, 200, 5],
    ['is slower at scale 2', 400, 100, 2, 800, 20],
  ])('%s', (_, ttft, speed, scale, firstTokenMs, msPerToken) => {
    expect(paceOf(model(ttft, speed), scale)).toEqual({ firstTokenMs, msPerToken });
  });

  it('never keeps a whole answer longer than 3 s', () => {
    expect(wholeAnswerMs({ firstTokenMs: 400, msPerToken: 10 }, 100)).toBe(1400);
    expect(wholeAnswerMs({ firstTokenMs: 400, msPerToken: 10 }, 10_000)).toBe(3000);
  });
});

describe('a pause', () => {
  it('ends when the caller goes, and is none where it has gone or is very short', async () => {
    const controller = new AbortController();
    const paused = pause(60_000, controller.signal);
    const waiting = untilGone(controller.signal);
    await pause(0, controller.signal);
    controller.abort();
    await Promise.all([paused, waiting, pause(60_000, controller.signal), untilGone(controller.signal)]);
  });
});

describe('the models of a catalogue', () => {
  it.each<[string, unknown, number]>([
    ['a date', '2024-01-02', 1_704_153_600],
    ['seconds', 5, 5],
    ['nothing', undefined, 0],
    ['nonsense', 'soon', 0],
  ])('take %s as created', (_, created, expected) => {
    expect(parseSandboxModels({ models: [{ id: 'm', created }] })[0]?.created).toBe(expected);
  });
});
