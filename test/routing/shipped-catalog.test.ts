// The shipped snapshot: that it is what it says, and that a careful person would agree with what is chosen from it.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Candidate, type Complexity, TASK_TYPES, type TaskType } from '../../src/routing/decision.ts';
import { PRESETS, presetByModel } from '../../src/routing/presets.ts';
import { classification, decided, needs, shippedCatalog } from './routing-samples.ts';

const FILE = new URL('../../config/catalog.json', import.meta.url);
const raw: Record<string, unknown> = JSON.parse(readFileSync(FILE, 'utf8'));
const catalog = shippedCatalog();

const DIFFICULTY: Readonly<Record<Complexity, number>> = { simple: 0.15, medium: 0.45, complex: 0.8 };

const choices = new Map<string, Candidate>();

function choice(preset: string, task: TaskType, complexity: Complexity): Candidate {
  const key = `${preset} ${task} ${complexity}`;
  const chosen = choices.get(key) ?? choose(preset, task, complexity);
  choices.set(key, chosen);
  return chosen;
}

function choose(preset: string, task_type: TaskType, complexity: Complexity): Candidate {
  const weights = presetByModel(preset)?.weights;
  if (!weights) throw new Error(`no preset ${preset}`);
  const [first] = decided({
    catalog,
    weights,
    needs: needs({
      input_tokens: complexity === 'complex' ? 2000 : 300,
      tools: task_type === 'agentic',
      vision: task_type === 'vision',
    }),
    classification: classification({ task_type, complexity, difficulty: DIFFICULTY[complexity], confidence: 0.85 }),
  }).candidates;
  if (!first) throw new Error('no candidate');
  return first;
}

const usd = (candidate: Candidate): number => Number(candidate.estimated_cost);
const CASES = TASK_TYPES.flatMap((task) =>
  (['simple', 'medium', 'complex'] as const).map((complexity) => [task, complexity] as const),
);

describe('the shipped snapshot', () => {
  it('says when it was taken and what it is not', () => {
    expect(raw['snapshot_date']).toMatch(/^\d{4}-\d\d-\d\d$/);
    expect(raw['note']).toMatch(/own estimates.*no third party table.*stale fallback/);
  });

  it('holds at least 120 models, all priced, all with every ability that applies', () => {
    expect(catalog.models.length).toBeGreaterThanOrEqual(120);
    for (const model of catalog.models) {
      expect(model.id).toMatch(/^[a-z0-9-]+\/[a-z0-9.:_-]+$/);
      expect(model.pricing?.outputPerMTok).toBeGreaterThan(0);
      expect(model.created).toBeGreaterThan(1_600_000_000);
      const tasks = TASK_TYPES.filter((task) => task !== 'vision' || model.inputModalities.includes('image'));
      expect(Object.keys(model.abilities).sort()).toEqual(['general', ...tasks].sort());
      expect(model.maxOutputTokens ?? 0).toBeLessThan(model.contextLength);
    }
  });

  it('is sorted, one model a line, so that a refresh reads well', () => {
    const ids = catalog.models.map(({ id }) => id);
    expect(ids).toEqual([...ids].sort());
    expect(
      readFileSync(FILE, 'utf8')
        .split('\n')
        .filter((line) => line.startsWith('{"id":')),
    ).toHaveLength(ids.length);
  });

  it('carries prices as plain decimals without float noise', () => {
    const text = readFileSync(FILE, 'utf8');
    const prices = [...text.matchAll(/"(?:prompt|completion|input_cache_read|input_cache_write)":"([^"]*)"/g)].map(
      (match) => match[1] ?? '',
    );
    expect(prices.length).toBeGreaterThan(2 * catalog.models.length);
    for (const each of prices) expect(each).toMatch(/^(0|0\.\d{0,13}[1-9]|[1-9]\d*(\.\d*[1-9])?)$/);
  });

  it('leaves descriptions out', () => {
    expect(readFileSync(FILE, 'utf8')).not.toContain('"description"');
  });
});

describe('the presets on the shipped snapshot', () => {
  it.each(CASES)('%s, %s: best has the highest quality', (task, complexity) => {
    const best = choice('svc:best', task, complexity);
    for (const { id } of PRESETS) expect(choice(id, task, complexity).quality).toBeLessThanOrEqual(best.quality);
  });

  it.each(CASES)('%s, %s: fast is the fastest, and never dearer than best', (task, complexity) => {
    const fast = choice('svc:fast', task, complexity);
    for (const { id } of PRESETS) expect(choice(id, task, complexity).speed).toBeLessThanOrEqual(fast.speed + 0.08);
    expect(usd(fast)).toBeLessThanOrEqual(usd(choice('svc:best', task, complexity)) * 5);
  });

  it.each(TASK_TYPES)('%s: a harder prompt never gets a weaker model under best', (task) => {
    const ability = (complexity: Complexity): number => {
      const model = catalog.byId.get(choice('svc:best', task, complexity).model);
      return model?.abilities[task] ?? 0;
    };
    expect(ability('complex')).toBeGreaterThanOrEqual(ability('medium'));
    expect(ability('medium')).toBeGreaterThanOrEqual(ability('simple'));
  });

  it.each(['svc:auto', 'svc:fast', 'svc:balanced'])(
    '%s answers a simple chat for well under a tenth of a cent, quickly',
    (preset) => {
      const chosen = choice(preset, 'chat', 'simple');
      expect(usd(chosen)).toBeLessThan(0.001);
      expect(chosen.estimated_ttft_ms).toBeLessThan(2000);
      expect(chosen.quality).toBeGreaterThan(0.9);
    },
  );

  it.each(['coding', 'reasoning', 'math'] as const)('svc:best sends complex %s to one of the strongest', (task) => {
    const chosen = catalog.byId.get(choice('svc:best', task, 'complex').model);
    const better = catalog.models.filter((model) => (model.abilities[task] ?? 0) > (chosen?.abilities[task] ?? 0));
    expect(better.length).toBeLessThan(10);
  });

  it.each(['coding', 'reasoning', 'math', 'agentic'] as const)(
    'svc:auto does not send complex %s to a model that can’t do it',
    (task) => {
      expect(choice('svc:auto', task, 'complex').quality).toBeGreaterThan(0.5);
    },
  );
});
