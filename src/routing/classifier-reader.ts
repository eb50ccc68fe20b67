// Reads a request into signals and features: the one road that both the classifier and its training take.
import type { NeutralRequest } from '../wire/neutral.ts';
import { createLexicon, createStopwords } from './classifier-lexicon.ts';
import { createSubjects } from './classifier-subjects.ts';
import { createCharTable, createTokens, tokenize } from './classifier-tokens.ts';
import { createFeatures, extractFeatures, type Features } from './features.ts';
import { CONTEXT_CHARS, createTurnBuffers, HEAD_CHARS, type LastTurn, readLastTurn, TAIL_CHARS } from './last-turn.ts';
import { readSignals, SIGNAL_NAMES } from './signals.ts';

const TOOL_TOKENS = 400;

/** What was read; features and signals are overwritten by the next reading. */
export type Reading = { readonly turn: LastTurn; readonly features: Features; readonly signals: Float32Array };

export function createReader(): (request: NeutralRequest) => Reading {
  const buffers = createTurnBuffers();
  const table = createCharTable();
  const lexicon = createLexicon();
  const stopwords = createStopwords();
  const subjects = createSubjects();
  const tokens = createTokens(HEAD_CHARS + TAIL_CHARS + 1);
  const previousUser = createTokens(CONTEXT_CHARS);
  const system = createTokens(CONTEXT_CHARS);
  const toolTokens = createTokens(TOOL_TOKENS);
  const features = createFeatures();
  const signals = new Float32Array(SIGNAL_NAMES.length);
  return (request) => {
    const turn = readLastTurn(request, buffers);
    tokenize(buffers.text, table, tokens);
    tokenize(buffers.previousUser, table, previousUser);
    tokenize(buffers.system, table, system);
    tokenize(buffers.tools, table, toolTokens);
    readSignals({ turn, tokens, toolTokens, lexicon, subjects }, signals);
    const tools = turn.toolCount > 0;
    const image = turn.imageAnywhere;
    extractFeatures({ text: buffers.text, tokens, previousUser, system, tools, image, table, stopwords }, features);
    return { turn, features, signals };
  };
}
