// The libraries that can be pointed at svc, and curl: variables, and a few lines of code each.

import { type ClientSetup, type ClientTarget, shellWord } from './client-setup.ts';

const text = (value: string): string => JSON.stringify(value);
const keyOnly = ({ keyVariable, key }: ClientTarget) => ({ [keyVariable]: key });

export const OPENAI: ClientSetup = {
  name: 'openai',
  title: 'OpenAI SDK',
  version: '6.49.0',
  calls: '/v1/chat/completions, /v1/responses',
  seen: 'works',
  env: ({ url, key }) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: key }),
  lines: ({ model }) => [
    {
      language: 'python',
      text: `from openai import OpenAI
client = OpenAI()
answer = client.chat.completions.create(model=${text(model)}, messages=[{"role": "user", "content": "Hello"}])`,
    },
    {
      language: 'js',
      text: `import OpenAI from 'openai';
const client = new OpenAI();
const answer = await client.chat.completions.create({ model: ${text(model)}, messages: [{ role: 'user', content: 'Hello' }] });`,
    },
  ],
};

export const ANTHROPIC: ClientSetup = {
  name: 'anthropic',
  title: 'Anthropic SDK',
  version: '1.12.0',
  calls: '/v1/messages',
  seen: 'works',
  env: ({ url, key }) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: key }),
  lines: ({ model }) => [
    {
      language: 'python',
      text: `from anthropic import Anthropic
client = Anthropic()
answer = client.messages.create(model=${text(model)}, max_tokens=512, messages=[{"role": "user", "content": "Hello"}])`,
    },
    {
      language: 'js',
      text: `import Anthropic from '@anthropic-ai/sdk';
const client = new Anthropic();
const answer = await client.messages.create({ model: ${text(model)}, max_tokens: 512, messages: [{ role: 'user', content: 'Hello' }] });`,
    },
  ],
};

export const AI_SDK: ClientSetup = {
  name: 'ai-sdk',
  title: 'AI SDK (`openai-compatible`, `openai`, `anthropic`)',
  version: '6.0.322',
  calls: '/v1/chat/completions, /v1/responses, /v1/messages',
  seen: 'works',
  env: keyOnly,
  lines: (target) => [
    {
      language: 'js',
      text: `import { env } from 'node:process';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText } from 'ai';
const svc = createOpenAICompatible({ name: 'svc', baseURL: ${text(`${target.url}/v1`)}, apiKey: env.${target.keyVariable}, includeUsage: true });
const answer = await generateText({ model: svc(${text(target.model)}), prompt: 'Hello' });`,
    },
  ],
};

export const LANGCHAIN: ClientSetup = {
  name: 'langchain',
  title: 'LangChain (`openai`, `anthropic`)',
  version: '1.4.0',
  calls: '/v1/chat/completions, /v1/messages',
  seen: 'works',
  env: keyOnly,
  lines: (target) => [
    {
      language: 'js',
      text: `import { env } from 'node:process';
import { ChatOpenAI } from '@langchain/openai';
const model = new ChatOpenAI({ model: ${text(target.model)}, apiKey: env.${target.keyVariable}, configuration: { baseURL: ${text(`${target.url}/v1`)} } });
const answer = await model.invoke('Hello');`,
    },
    {
      language: 'python',
      text: `import os
from langchain_openai import ChatOpenAI
model = ChatOpenAI(model=${text(target.model)}, api_key=os.environ[${text(target.keyVariable)}], base_url=${text(`${target.url}/v1`)})
answer = model.invoke("Hello")`,
    },
  ],
};

export const CURL: ClientSetup = {
  name: 'curl',
  title: 'curl',
  version: null,
  calls: 'any',
  seen: 'works: the commands above are run against the daemon by the tests',
  env: keyOnly,
  lines: ({ url, keyVariable, model }) => [
    {
      language: 'sh',
      text: `curl ${shellWord(`${url}/v1/chat/completions`)} \\
  -H "Authorization: Bearer $${keyVariable}" -H "Content-Type: application/json" \\
  -d '${JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] })}'`,
    },
  ],
};
