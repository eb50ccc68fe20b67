// The libraries that can be pointed at svc, and curl: variables, and a few lines of code each.

import { type ClientSetup, type ClientTarget, shellWord } from './client-setup.ts';

const text = (value: string): string => JSON.stringify(value);
const code = (...each: readonly string[]): string => each.join('\n');
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
      text: code(
        'from openai import OpenAI',
        'client = OpenAI()',
        `answer = client.chat.completions.create(model=${text(model)}, messages=[{"role": "user", "content": "Hello"}])`,
      ),
    },
    {
      language: 'js',
      text: code(
        "import OpenAI from 'openai';",
        'const client = new OpenAI();',
        `const answer = await client.chat.completions.create({ model: ${text(model)}, messages: [{ role: 'user', content: 'Hello' }] });`,
      ),
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
      text: code(
        'from anthropic import Anthropic',
        'client = Anthropic()',
        `answer = client.messages.create(model=${text(model)}, max_tokens=512, messages=[{"role": "user", "content": "Hello"}])`,
      ),
    },
    {
      language: 'js',
      text: code(
        "import Anthropic from '@anthropic-ai/sdk';",
        'const client = new Anthropic();',
        `const answer = await client.messages.create({ model: ${text(model)}, max_tokens: 512, messages: [{ role: 'user', content: 'Hello' }] });`,
      ),
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
      text: code(
        "import { env } from 'node:process';",
        "import { createAnthropic } from '@ai-sdk/anthropic';",
        "import { createOpenAI } from '@ai-sdk/openai';",
        "import { createOpenAICompatible } from '@ai-sdk/openai-compatible';",
        "import { generateText } from 'ai';",
        `const chat = createOpenAICompatible({ name: 'svc', baseURL: ${text(`${target.url}/v1`)}, apiKey: env.${target.keyVariable}, includeUsage: true, supportsStructuredOutputs: true });`,
        `const responses = createOpenAI({ baseURL: ${text(`${target.url}/v1`)}, apiKey: env.${target.keyVariable} });`,
        `const messages = createAnthropic({ baseURL: ${text(`${target.url}/v1`)}, apiKey: env.${target.keyVariable} });`,
        '// Any one of the three: chat(…), responses(…) or messages(…).',
        `const answer = await generateText({ model: chat(${text(target.model)}), prompt: 'Hello' });`,
      ),
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
      text: code(
        "import { env } from 'node:process';",
        "import { ChatOpenAI } from '@langchain/openai';",
        `const model = new ChatOpenAI({ model: ${text(target.model)}, apiKey: env.${target.keyVariable}, configuration: { baseURL: ${text(`${target.url}/v1`)} } });`,
        "const answer = await model.invoke('Hello');",
      ),
    },
    {
      language: 'python',
      text: code(
        'import os',
        'from langchain_openai import ChatOpenAI',
        `model = ChatOpenAI(model=${text(target.model)}, api_key=os.environ[${text(target.keyVariable)}], base_url=${text(`${target.url}/v1`)})`,
        'answer = model.invoke("Hello")',
      ),
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
