// The SDKs.

import type { ClientUnderTest } from './client-under-test.ts';
import { sdkRuns } from './sdk-run.ts';

export const OPENAI_SDK: ClientUnderTest = {
  name: 'openai',
  title: 'openai (JavaScript)',
  runs: sdkRuns('openai.mjs', [
    { way: 'chat', title: 'Chat Completions' },
    { way: 'responses', title: 'Responses' },
  ]),
};

export const ANTHROPIC_SDK: ClientUnderTest = {
  name: 'anthropic',
  title: '@anthropic-ai/sdk',
  runs: sdkRuns('anthropic.mjs', [{ way: '', title: 'Messages', messages: true }]),
};

export const AI_SDK: ClientUnderTest = {
  name: 'ai-sdk',
  title: 'AI SDK',
  runs: sdkRuns('ai-sdk.mjs', [
    { way: 'openai-compatible', title: '@ai-sdk/openai-compatible' },
    { way: 'openai', title: '@ai-sdk/openai, Chat Completions' },
    { way: 'openai-responses', title: '@ai-sdk/openai, Responses' },
    { way: 'anthropic', title: '@ai-sdk/anthropic', messages: true },
  ]),
};

export const LANGCHAIN: ClientUnderTest = {
  name: 'langchain',
  title: 'LangChain',
  runs: sdkRuns('langchain.mjs', [
    { way: 'openai', title: '@langchain/openai' },
    { way: 'anthropic', title: '@langchain/anthropic', messages: true },
  ]),
};
