// A loop with one tool through the AI SDK, which makes the second call by itself; prints the last answer.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, stepCountIs, streamText, tool } from 'ai';
import { z } from 'zod';

const { SVC_URL, SVC_API_KEY, MODEL, STREAM, TOOL_RESULT, WAY } = process.env;
const baseURL = `${SVC_URL}/v1`;
const apiKey = SVC_API_KEY;
const models = {
  'openai-compatible': () => createOpenAICompatible({ name: 'svc', baseURL, apiKey, includeUsage: true })(MODEL),
  openai: () => createOpenAI({ baseURL, apiKey }).chat(MODEL),
  'openai-responses': () => createOpenAI({ baseURL, apiKey }).responses(MODEL),
  anthropic: () => createAnthropic({ baseURL, apiKey })(MODEL),
};
const get_weather = tool({
  description: 'Weather of a city',
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => {
    if (city !== 'Oslo') throw new Error('wrong arguments');
    return TOOL_RESULT;
  },
});
const request = {
  model: models[WAY](),
  prompt: 'What is the weather in Oslo?',
  tools: { get_weather },
  stopWhen: stepCountIs(3),
  maxRetries: 0,
};
const answer = STREAM
  ? streamText({
      ...request,
      onError: ({ error }) => {
        throw error;
      },
    })
  : await generateText(request);
const usage = await answer.totalUsage;
if (!(usage.inputTokens > 0 && usage.outputTokens > 0)) throw new Error(`no usage: ${JSON.stringify(usage)}`);
console.log(await answer.text);
