// Every command of `svc`: its words, options, help and example, and where its code is.

import type { CommandSpec, OptionSpec } from './command.ts';

/** Of every command. */
export const JSON_OPTION: OptionSpec = {
  flags: '--json',
  help: 'print JSON on standard output, and nothing else there',
};

export const HOME_OPTION: OptionSpec = {
  flags: '--home <dir>',
  help: "data directory (default: SVC_HOME, then the platform's own)",
};

/** Of every command that talks to a daemon. */
export const DAEMON_OPTIONS: readonly OptionSpec[] = [
  { flags: '--base-url <url>', help: "the daemon's address (default: SVC_BASE_URL, then the data directory's daemon)" },
  HOME_OPTION,
];

/** One-line descriptions of the words that only group commands. */
export const GROUPS: Readonly<Record<string, string>> = {
  keys: 'API keys of the current workspace',
  credits: 'credits of the current workspace',
  workspaces: 'the workspaces you belong to',
  ledger: "the operator's checks of the ledger, read from the data directory itself",
};

const WORKSPACE: OptionSpec = {
  flags: '--workspace <id>',
  help: 'act in this workspace (id or name) instead of the current one',
};
const NAME = (what: string): OptionSpec => ({ flags: '--name <name>', help: `${what}, instead of as an argument` });

export const COMMANDS: readonly CommandSpec[] = [
  {
    path: 'serve',
    summary: 'run the daemon in the foreground',
    examples: ['serve', 'serve --port 8080 --upstream-url https://openrouter.ai/api/v1'],
    load: async () => (await import('./commands/serve.ts')).runServe,
  },
  {
    path: 'status',
    summary: 'show whether the daemon runs, where, and whether it takes traffic',
    examples: ['status', 'status --json'],
    load: async () => (await import('./commands/status.ts')).runStatus,
  },
  {
    path: 'login',
    summary: 'log in, and remember the session',
    options: [
      { flags: '--email <email>', help: 'email of the account' },
      { flags: '--password-stdin', help: 'read the password from standard input' },
      { flags: '--register', help: 'create the account first' },
      { flags: '--name <name>', help: 'name of the account to create' },
      {
        flags: '--with-token',
        help: 'read a session token from standard input',
        conflicts: ['email', 'passwordStdin', 'register', 'name'],
      },
    ],
    examples: [
      'login --email you@example.com --password-stdin --register < password.txt',
      'login --email you@example.com --password-stdin < password.txt',
      'login --with-token < token.txt',
    ],
    load: async () => (await import('./commands/login.ts')).runLogin,
  },
  {
    path: 'logout',
    summary: 'end the session and forget it',
    examples: ['logout'],
    load: async () => (await import('./commands/logout.ts')).runLogout,
  },
  {
    path: 'whoami',
    summary: 'show who is logged in, where, and in which workspace',
    options: [WORKSPACE],
    examples: ['whoami'],
    load: async () => (await import('./commands/whoami.ts')).runWhoami,
  },
  {
    path: 'workspaces list',
    summary: 'list your workspaces',
    options: [WORKSPACE],
    examples: ['workspaces list'],
    load: async () => (await import('./commands/workspaces-list.ts')).runWorkspacesList,
  },
  {
    path: 'workspaces use',
    args: [['[workspace]', 'id or name of the workspace']],
    summary: 'choose the current workspace',
    options: [NAME('id or name of the workspace')],
    examples: ['workspaces use research'],
    load: async () => (await import('./commands/workspaces-use.ts')).runWorkspacesUse,
  },
  {
    path: 'workspaces create',
    args: [['[name]', 'name of the workspace']],
    summary: 'create a workspace',
    options: [NAME('name of the workspace')],
    examples: ['workspaces create research'],
    load: async () => (await import('./commands/workspaces-create.ts')).runWorkspacesCreate,
  },
  {
    path: 'keys list',
    summary: 'list API keys',
    options: [WORKSPACE],
    examples: ['keys list', 'keys list --json'],
    load: async () => (await import('./commands/keys-list.ts')).runKeysList,
  },
  {
    path: 'keys create',
    args: [['[name]', 'name of the key']],
    summary: 'create an API key and print its secret, this once',
    options: [
      NAME('name of the key'),
      { flags: '--expires <time>', help: 'a length from now such as 90d, or a date' },
      { flags: '--models <list>', help: 'only these models, separated by commas' },
      { flags: '--requests-per-minute <n>', help: 'limit on requests' },
      { flags: '--tokens-per-minute <n>', help: 'limit on tokens' },
      { flags: '--budget <usd>', help: 'most that the key may spend' },
      { flags: '--budget-period <period>', help: 'what the budget is for', choices: ['total', 'day', 'month'] },
      WORKSPACE,
    ],
    examples: ['keys create laptop', 'keys create ci --budget 5 --budget-period month --expires 90d'],
    load: async () => (await import('./commands/keys-create.ts')).runKeysCreate,
  },
  {
    path: 'keys rotate',
    args: [['[key]', 'id or name of the key']],
    summary: 'give an API key a new secret and print it, this once',
    options: [NAME('id or name of the key'), { flags: '--yes', help: 'do not ask' }, WORKSPACE],
    examples: ['keys rotate laptop --yes'],
    load: async () => (await import('./commands/keys-rotate.ts')).runKeysRotate,
  },
  {
    path: 'keys revoke',
    args: [['[key]', 'id or name of the key']],
    summary: 'revoke an API key, at once and for good',
    options: [NAME('id or name of the key'), { flags: '--yes', help: 'do not ask' }, WORKSPACE],
    examples: ['keys revoke laptop --yes'],
    load: async () => (await import('./commands/keys-revoke.ts')).runKeysRevoke,
  },
  {
    path: 'credits show',
    summary: 'show the balance',
    options: [WORKSPACE],
    examples: ['credits show'],
    load: async () => (await import('./commands/credits-show.ts')).runCreditsShow,
  },
  {
    path: 'credits add',
    args: [['<amount>', 'USD, such as 10 or 2.50']],
    summary: 'add credits (operator only)',
    options: [
      { flags: '--note <text>', help: 'why, for the record' },
      { flags: '--idempotency-key <key>', help: 'the same key adds once, however often it is sent' },
      WORKSPACE,
    ],
    examples: ['credits add 10 --note "invoice 42"'],
    load: async () => (await import('./commands/credits-add.ts')).runCreditsAdd,
  },
  {
    path: 'usage',
    summary: 'show requests and what they cost, newest first, or sums of them',
    options: [
      { flags: '--since <time>', help: 'from then on: a length before now such as 7d, or a date' },
      { flags: '--until <time>', help: 'up to then' },
      {
        flags: '--by <group>',
        help: 'sums instead of entries',
        choices: ['model', 'virtual_model', 'key', 'day', 'task'],
      },
      { flags: '--model <model>', help: 'of this model only' },
      { flags: '--key <id>', help: 'of this API key (id or name) only' },
      { flags: '--limit <n>', help: 'most entries to show (default: 100)' },
      { flags: '--csv', help: 'print CSV' },
      WORKSPACE,
    ],
    examples: ['usage --since 7d --by model', 'usage --csv > usage.csv'],
    load: async () => (await import('./commands/usage.ts')).runUsage,
  },
  {
    path: 'ledger verify',
    readsFiles: true,
    summary: 'prove from its files that the journal is whole and every balance right; also beside a running daemon',
    examples: ['ledger verify', 'ledger verify --home /var/lib/svc --json'],
    load: async () => (await import('./commands/ledger-verify.ts')).runLedgerVerify,
  },
  {
    path: 'ledger reconcile',
    readsFiles: true,
    summary: 'show what was charged beside what the upstream said it cost, from the files of the journal',
    options: [
      { flags: '--since <time>', help: 'from then on: a length before now such as 7d, or a date' },
      { flags: '--until <time>', help: 'up to then' },
      { flags: '--by <group>', help: 'what to sum by (default: model)', choices: ['model', 'upstream', 'day'] },
      { flags: '--csv', help: 'print the sums as CSV' },
    ],
    examples: ['ledger reconcile --since 30d', 'ledger reconcile --by day --csv > reconcile.csv'],
    load: async () => (await import('./commands/ledger-reconcile.ts')).runLedgerReconcile,
  },
  {
    path: 'models',
    summary: 'list models with their prices and abilities',
    options: [WORKSPACE],
    examples: ['models', "models --json | jq -r '.data[].id'"],
    load: async () => (await import('./commands/models.ts')).runModels,
  },
  {
    path: 'explain',
    args: [['[prompt...]', 'the prompt; `-` reads standard input']],
    summary: 'show which model the router would choose and why; nothing is sent upstream',
    options: [
      { flags: '--model <model>', help: 'model to ask for (default: svc:auto)' },
      { flags: '--file <path>', help: 'read the prompt from a file' },
      WORKSPACE,
    ],
    examples: ['explain "prove that 2 is the only even prime"', 'explain --model svc:fast --file prompt.txt'],
    load: async () => (await import('./commands/explain.ts')).runExplain,
  },
  {
    path: 'configure',
    args: [['[client]', 'such as claude-code, codex, opencode, openai; without one, all are listed']],
    summary: 'show how to point a client at this daemon, or write it into its file',
    options: [
      { flags: '--model <model>', help: 'model the client asks for (default: svc:auto)' },
      { flags: '--key <variable>', help: 'environment variable that holds the API key (default: SVC_API_KEY)' },
      { flags: '--write', help: "put it into the client's own file, and keep a copy of the old one beside it" },
      { flags: '--dry-run', help: 'show what --write would change' },
    ],
    examples: ['configure claude-code', 'configure opencode --dry-run', 'configure codex --model svc:best --write'],
    load: async () => (await import('./commands/configure.ts')).runConfigure,
  },
];
