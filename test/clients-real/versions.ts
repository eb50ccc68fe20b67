// The exact packages of every client that is run: the newest that start on Node 20.19.

/** By client, then by package. Names are those of `svc configure`. A client without packages is a devDependency of the project itself. */
export const PACKAGES = {
  openai: {},
  anthropic: {},
  'ai-sdk': {
    ai: '6.0.322',
    '@ai-sdk/openai-compatible': '2.0.87',
    '@ai-sdk/openai': '3.0.141',
    '@ai-sdk/anthropic': '3.0.138',
    zod: '4.6.7',
  },
  langchain: { '@langchain/openai': '1.5.8', '@langchain/anthropic': '1.5.11', '@langchain/core': '1.4.0' },
  'claude-code': { '@anthropic-ai/claude-code': '2.1.197' },
  codex: { '@openai/codex': '0.169.0' },
  opencode: { 'opencode-ai': '1.18.33' },
  'qwen-code': { '@qwen-code/qwen-code': '0.15.10' },
  cline: { cline: '3.0.65' },
  continue: { '@continuedev/cli': '1.5.47' },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>;

export type ClientName = keyof typeof PACKAGES;

/** The package whose version is the client's. */
export const MAIN_PACKAGE: Readonly<Record<ClientName, string>> = {
  openai: 'openai',
  anthropic: '@anthropic-ai/sdk',
  'ai-sdk': 'ai',
  langchain: '@langchain/core',
  'claude-code': '@anthropic-ai/claude-code',
  codex: '@openai/codex',
  opencode: 'opencode-ai',
  'qwen-code': '@qwen-code/qwen-code',
  cline: 'cline',
  continue: '@continuedev/cli',
};
