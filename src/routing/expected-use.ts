// How much a model is expected to write and think for a request: what its cost and its time are made of.

import type { Reasoning } from '../wire/neutral.ts';
import type { Classification, Needs, TaskType } from './decision.ts';

/** Tokens of a typical answer to a prompt of medium difficulty. */
const ANSWER_TOKENS: Readonly<Record<TaskType, number>> = {
  chat: 200,
  coding: 900,
  math: 600,
  reasoning: 700,
  writing: 900,
  summarization: 350,
  extraction: 250,
  translation: 300,
  qa: 300,
  agentic: 500,
  vision: 350,
};
const TRANSLATION_TOKENS_MIN = 30;
const TRANSLATION_TOKENS_MAX = 1500;
/** Thinking grows with difficulty: catalogue figures are for medium prompts. */
const THINKING_SCALE_MIN = 0.2;
const THINKING_SCALE_MAX = 2;
const EFFORT_SCALE: Readonly<Record<string, number>> = { minimal: 0.3, low: 0.5, high: 2, xhigh: 3, max: 4 };

/** Answer tokens, thinking apart. Harder prompts get longer answers: half the typical length to one and a half. */
export function expectedAnswerTokens(classification: Classification, needs: Needs): number {
  const { task_type: task, difficulty } = classification;
  if (task === 'translation') {
    return Math.min(TRANSLATION_TOKENS_MAX, Math.max(TRANSLATION_TOKENS_MIN, needs.input_tokens));
  }
  return ANSWER_TOKENS[task] * (0.5 + difficulty);
}

/** What a model's usual thinking is multiplied by; 0 when the caller turned it off. */
export function thinkingScale(classification: Classification, reasoning: Reasoning | undefined): number {
  if (reasoning?.enabled === false || reasoning?.effort === 'none') return 0;
  const byDifficulty = Math.min(THINKING_SCALE_MAX, Math.max(THINKING_SCALE_MIN, 2 * classification.difficulty));
  return byDifficulty * (EFFORT_SCALE[reasoning?.effort ?? ''] ?? 1);
}
