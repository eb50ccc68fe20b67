// The coding agents that can be pointed at svc: their files, variables and command lines.

import { join } from 'node:path';
import { type ClientSetup, type ClientTarget, shellWord } from './client-setup.ts';

/** For an agent's small jobs, such as titles. */
const SMALL_MODEL = 'svc:fast';

const shell = (...lines: readonly string[]) => [{ language: 'sh', text: lines.join('\n') }];
const keyVariable = ({ keyVariable: name, key }: ClientTarget) => ({ [name]: key });

export const CLAUDE_CODE: ClientSetup = {
  name: 'claude-code',
  title: 'Claude Code',
  version: '2.1.197',
  calls: '/v1/messages',
  seen: 'works; it always asks for reasoning, so `svc:auto` needs an upstream model that has it',
  env: claudeVariables,
  file: {
    path: ({ home, env }) => join(env['CLAUDE_CONFIG_DIR'] || join(home, '.claude'), 'settings.json'),
    content: (target) => ({ kind: 'json', fields: { env: claudeVariables(target) } }),
    holdsKey: true,
  },
  lines: () => shell('claude'),
};

export const CODEX: ClientSetup = {
  name: 'codex',
  title: 'Codex CLI',
  version: '0.169.0',
  calls: '/v1/responses',
  seen: 'works; it says that it does not know the model, and takes its own defaults',
  env: keyVariable,
  file: {
    path: ({ home, env }) => join(env['CODEX_HOME'] || join(home, '.codex'), 'config.toml'),
    content: ({ url, keyVariable: variable, model }) => ({
      kind: 'block',
      head: `model = ${JSON.stringify(model)}\nmodel_provider = "svc"\n\n`,
      block: [
        '[model_providers.svc]',
        'name = "svc"',
        `base_url = ${JSON.stringify(`${url}/v1`)}`,
        `env_key = ${JSON.stringify(variable)}`,
        'wire_api = "responses"',
        '',
      ].join('\n'),
      taken:
        /^\s*(\[\s*model_providers\s*\.\s*["']?svc["']?\s*[\].]|\[\s*model_providers\s*\]|model_providers\s*[.=])/m,
      takenBy: 'model providers that a table can not simply be added to',
    }),
    holdsKey: false,
  },
  lines: ({ model }) => shell(`codex -c model_provider=svc --model ${shellWord(model)}`),
};

export const OPENCODE: ClientSetup = {
  name: 'opencode',
  title: 'opencode',
  version: '1.18.33',
  calls: '/v1/chat/completions',
  seen: 'works',
  env: keyVariable,
  file: {
    path: ({ home, env }) => join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'opencode', 'opencode.json'),
    content: ({ url, keyVariable: variable, model }) => ({
      kind: 'json',
      fields: {
        $schema: 'https://opencode.ai/config.json',
        provider: {
          svc: {
            npm: '@ai-sdk/openai-compatible',
            name: 'svc',
            options: { baseURL: `${url}/v1`, apiKey: `{env:${variable}}` },
            models: Object.fromEntries([model, SMALL_MODEL].map((id) => [id, { name: id }])),
          },
        },
        model: `svc/${model}`,
        small_model: `svc/${SMALL_MODEL}`,
      },
    }),
    holdsKey: false,
  },
  lines: ({ model }) => shell(`opencode -m ${shellWord(`svc/${model}`)}`),
};

export const QWEN_CODE: ClientSetup = {
  name: 'qwen-code',
  title: 'Qwen Code',
  version: '0.15.10',
  calls: '/v1/chat/completions',
  seen: 'works',
  env: keyVariable,
  file: {
    path: ({ home }) => join(home, '.qwen', 'settings.json'),
    content: ({ url, keyVariable: variable, model }) => ({
      kind: 'json',
      fields: {
        modelProviders: { openai: [{ id: model, name: `svc ${model}`, envKey: variable, baseUrl: `${url}/v1` }] },
        security: { auth: { selectedType: 'openai' } },
        model: { name: model },
      },
    }),
    holdsKey: false,
  },
  lines: () => shell('qwen'),
};

export const CONTINUE: ClientSetup = {
  name: 'continue',
  title: 'Continue (`cn`)',
  version: '1.5.47',
  calls: '/v1/chat/completions',
  seen: 'works',
  file: {
    path: ({ home, env }) => join(env['CONTINUE_GLOBAL_DIR'] || join(home, '.continue'), 'config.yaml'),
    content: ({ url, key, model }) => ({
      kind: 'block',
      head: 'name: svc\nversion: 0.0.1\nschema: v1\n',
      block: [
        'models:',
        `  - name: ${JSON.stringify(model)}`,
        '    provider: openai',
        `    model: ${JSON.stringify(model)}`,
        `    apiBase: ${JSON.stringify(`${url}/v1`)}`,
        `    apiKey: ${JSON.stringify(key)}`,
        '',
      ].join('\n'),
      taken: /^(models\s*:|["']models["']\s*:|\{|---|\.\.\.)/m,
      takenBy: 'a list of models already, or is not written in plain block style',
    }),
    holdsKey: true,
  },
  lines: () => shell('cn'),
};

export const CLINE: ClientSetup = {
  name: 'cline',
  title: 'Cline',
  version: '3.0.65',
  calls: '/v1/chat/completions',
  seen: 'works on the command line; the editor extension was not run',
  env: keyVariable,
  lines: ({ url, keyVariable: variable, model }) =>
    shell(
      '# in the editor: API Provider "OpenAI Compatible", Base URL, API Key and Model ID as below',
      `cline auth openai -b ${shellWord(`${url}/v1`)} -k "$${variable}" -m ${shellWord(model)}`,
      `cline -P openai-compatible -m ${shellWord(model)}`,
    ),
};

export const AIDER: ClientSetup = {
  name: 'aider',
  title: 'aider',
  version: null,
  calls: '/v1/chat/completions',
  seen: 'not run',
  env: ({ url, key }) => ({ OPENAI_API_BASE: `${url}/v1`, OPENAI_API_KEY: key }),
  lines: ({ model }) => shell(`aider --model ${shellWord(`openai/${model}`)}`),
};

function claudeVariables({ url, key, model }: ClientTarget): Readonly<Record<string, string>> {
  return {
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_AUTH_TOKEN: key,
    ANTHROPIC_MODEL: model,
    ANTHROPIC_DEFAULT_OPUS_MODEL: model,
    ANTHROPIC_DEFAULT_SONNET_MODEL: model,
    ANTHROPIC_DEFAULT_HAIKU_MODEL: SMALL_MODEL,
  };
}
