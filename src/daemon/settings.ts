// svc's settings: one table with every one of them, read from flags, environment, `config.json` and defaults, in that order.

import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** Wrong or unknown settings; the message names the setting and where it came from. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
  /** Of the process: 78 for wrong content, 77 for a file that may not be read. */
  readonly exitCode: 77 | 78;

  constructor(message: string, exitCode: 77 | 78 = 78) {
    super(message);
    this.exitCode = exitCode;
  }
}

type Kind = 'text' | 'url' | 'port' | 'milliseconds' | 'days' | 'usd' | 'flag' | readonly string[];

export type SettingRow = {
  /** Key in `config.json`; the flag is its kebab-case form. */
  readonly name: string;
  readonly flag: string;
  readonly env: string;
  readonly kind: Kind;
  readonly default: string;
  readonly help: string;
  /** Read from the environment only: no secret on a command line or in `config.json`. */
  readonly secret?: true;
};

const row = (name: string, env: string, kind: Kind, fallback: string, help: string, secret?: true): SettingRow => ({
  name,
  flag: `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
  env,
  kind,
  default: fallback,
  help,
  ...(secret ? { secret } : {}),
});

export const SETTINGS: readonly SettingRow[] = [
  row('home', 'SVC_HOME', 'text', '', "data directory (default: the platform's own)"),
  row('host', 'SVC_HOST', 'text', '127.0.0.1', 'address to listen on'),
  row('port', 'SVC_PORT', 'port', '4747', 'port to listen on; 0 takes a free one'),
  row('baseUrl', 'SVC_BASE_URL', 'url', '', 'the daemon that commands talk to'),
  row('apiKey', 'SVC_API_KEY', 'text', '', 'API key that commands use', true),
  row('token', 'SVC_TOKEN', 'text', '', 'session token that commands use', true),
  row('upstreamUrl', 'SVC_UPSTREAM_URL', 'url', '', 'base URL of the upstream; none starts the sandbox'),
  row('upstreamApiKey', 'SVC_UPSTREAM_API_KEY', 'text', '', "the upstream's API key", true),
  row(
    'upstreamFormats',
    'SVC_UPSTREAM_FORMATS',
    ['chat', 'messages', 'chat,messages'],
    'chat',
    'wire formats the upstream speaks',
  ),
  row(
    'upstreamDialect',
    'SVC_UPSTREAM_DIALECT',
    ['auto', 'openrouter', 'openai'],
    'auto',
    'openrouter, or strict openai',
  ),
  row('upstreamConnectTimeoutMs', 'SVC_UPSTREAM_CONNECT_TIMEOUT_MS', 'milliseconds', '10000', 'limit for connecting'),
  row(
    'upstreamFirstEventTimeoutMs',
    'SVC_UPSTREAM_FIRST_EVENT_TIMEOUT_MS',
    'milliseconds',
    '120000',
    'limit for the first event',
  ),
  row('upstreamIdleTimeoutMs', 'SVC_UPSTREAM_IDLE_TIMEOUT_MS', 'milliseconds', '120000', 'limit between two events'),
  row('drainTimeoutMs', 'SVC_DRAIN_TIMEOUT_MS', 'milliseconds', '10000', 'time open requests get to finish at a stop'),
  row('catalog', 'SVC_CATALOG', 'text', '', 'catalogue file used instead of the shipped snapshot'),
  row('allowUnknownPrice', 'SVC_ALLOW_UNKNOWN_PRICE', 'flag', 'false', 'serve models whose price nobody knows'),
  row('startingCredits', 'SVC_STARTING_CREDITS', 'usd', '10', 'USD a new workspace gets (loopback only)'),
  row(
    'behindProxy',
    'SVC_BEHIND_PROXY',
    'flag',
    'false',
    'TLS is done by a proxy in front: allows other addresses than loopback',
  ),
  row(
    'logLevel',
    'SVC_LOG_LEVEL',
    ['trace', 'debug', 'info', 'warn', 'error', 'silent'],
    'info',
    'least level that is logged',
  ),
  row(
    'journalKeepDays',
    'SVC_JOURNAL_KEEP_DAYS',
    'days',
    '0',
    'days that usage entries are kept; 0 keeps them for ever',
  ),
  row('store', 'SVC_STORE', ['file:'], 'file:', 'where state is kept'),
];

const FORMATS = ['chat', 'messages'] as const;

export type Settings = {
  readonly home: string;
  readonly host: string;
  readonly port: number;
  readonly baseUrl: string | undefined;
  readonly apiKey: string | undefined;
  readonly token: string | undefined;
  readonly upstreamUrl: string | undefined;
  readonly upstreamApiKey: string | undefined;
  readonly upstreamFormats: readonly ('chat' | 'messages')[];
  readonly upstreamDialect: 'auto' | 'openrouter' | 'openai';
  readonly upstreamConnectTimeoutMs: number;
  readonly upstreamFirstEventTimeoutMs: number;
  readonly upstreamIdleTimeoutMs: number;
  readonly drainTimeoutMs: number;
  readonly catalog: string | undefined;
  /** `catalog.overrides` of `config.json`: fields that replace those of single models, by model id. */
  readonly catalogOverrides: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly allowUnknownPrice: boolean;
  readonly startingCredits: string;
  readonly behindProxy: boolean;
  readonly logLevel: string;
  /** 0: for ever. */
  readonly journalKeepDays: number;
};

export type SettingsInput = {
  /** By setting name, as given on the command line. */
  readonly flags: Readonly<Record<string, string | undefined>>;
  readonly env: Readonly<Record<string, string | undefined>>;
};

/** Throws {@link SettingsError}. Reads `config.json` of the data directory when it is there. */
export function loadSettings(input: SettingsInput): Settings {
  const home = resolve(input.flags['home'] ?? (input.env['SVC_HOME'] || defaultHome(input.env)));
  const file = readConfigFile(home);
  const values: Record<string, string> = {};
  for (const setting of SETTINGS) values[setting.name] = settingValue(setting, input, file);
  const text = (name: string): string | undefined => values[name] || undefined;
  const number = (name: string): number => Number(values[name]);
  return {
    home,
    host: values['host'] ?? '',
    port: number('port'),
    baseUrl: text('baseUrl')?.replace(/\/$/, ''),
    apiKey: text('apiKey'),
    token: text('token'),
    upstreamUrl: text('upstreamUrl')?.replace(/\/$/, ''),
    upstreamApiKey: text('upstreamApiKey'),
    upstreamFormats: FORMATS.filter((format) => values['upstreamFormats']?.split(',').includes(format)),
    upstreamDialect: dialectOf(values['upstreamDialect']),
    upstreamConnectTimeoutMs: number('upstreamConnectTimeoutMs'),
    upstreamFirstEventTimeoutMs: number('upstreamFirstEventTimeoutMs'),
    upstreamIdleTimeoutMs: number('upstreamIdleTimeoutMs'),
    drainTimeoutMs: number('drainTimeoutMs'),
    catalog: text('catalog'),
    catalogOverrides: file.catalogOverrides,
    allowUnknownPrice: values['allowUnknownPrice'] === 'true',
    startingCredits: values['startingCredits'] ?? '0',
    behindProxy: values['behindProxy'] === 'true',
    logLevel: values['logLevel'] ?? 'info',
    journalKeepDays: number('journalKeepDays'),
  };
}

/** The one place that reads the process's environment. */
export function processEnv(): Readonly<Record<string, string | undefined>> {
  return process.env;
}

type ConfigFile = {
  readonly path: string;
  readonly values: Readonly<Record<string, unknown>>;
  readonly catalogOverrides: Settings['catalogOverrides'];
};

function defaultHome(env: SettingsInput['env']): string {
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'svc');
  if (process.platform === 'win32') return join(env['LOCALAPPDATA'] || join(homedir(), 'AppData', 'Local'), 'svc');
  return join(env['XDG_DATA_HOME'] || join(homedir(), '.local', 'share'), 'svc');
}

function readConfigFile(home: string): ConfigFile {
  const path = join(home, 'config.json');
  const text = readIfThere(home, path);
  if (text === undefined) return { path, values: {}, catalogOverrides: {} };
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw new SettingsError(`${path} is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!isRecord(parsed)) throw new SettingsError(`${path} must hold one JSON object`);
  const { 'catalog.overrides': overrides = {}, ...values } = parsed;
  const known = new Set(
    SETTINGS.filter((setting) => !setting.secret && setting.name !== 'home').map(({ name }) => name),
  );
  const unknown = Object.keys(values).find((name) => !known.has(name));
  if (unknown !== undefined) throw new SettingsError(`unknown setting ${JSON.stringify(unknown)} in ${path}`);
  return { path, values, catalogOverrides: parseOverrides(overrides, path) };
}

function readIfThere(home: string, path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = isRecord(error) ? error['code'] : undefined;
    if (code === 'ENOENT') return undefined;
    if (code === 'ENOTDIR') throw new SettingsError(`${home} is not a directory`);
    const denied = code === 'EACCES' || code === 'EPERM';
    const reason = error instanceof Error ? error.message : String(error);
    throw new SettingsError(`${path} cannot be read: ${reason}`, denied ? 77 : 78);
  }
}

function parseOverrides(value: unknown, path: string): Settings['catalogOverrides'] {
  if (!isRecord(value)) throw new SettingsError(`"catalog.overrides" in ${path} must be an object by model id`);
  const overrides: Record<string, Readonly<Record<string, unknown>>> = {};
  for (const [id, fields] of Object.entries(value)) {
    if (!isRecord(fields))
      throw new SettingsError(`"catalog.overrides" of ${id} in ${path} must be an object of fields`);
    overrides[id] = fields;
  }
  return overrides;
}

function settingValue(setting: SettingRow, input: SettingsInput, file: ConfigFile): string {
  const flag = setting.secret ? undefined : input.flags[setting.name];
  if (flag !== undefined) return checked(setting, flag, `flag ${setting.flag}`);
  const env = input.env[setting.env];
  if (env) return checked(setting, env, `environment variable ${setting.env}`);
  const fromFile = file.values[setting.name];
  if (fromFile === undefined) return setting.default;
  if (!['string', 'number', 'boolean'].includes(typeof fromFile)) {
    throw new SettingsError(`${setting.name} in ${file.path} must be a string, a number or true/false`);
  }
  return checked(setting, String(fromFile), file.path);
}

function checked(setting: SettingRow, value: string, source: string): string {
  const problem = problemOf(setting.kind, value);
  if (problem)
    throw new SettingsError(
      `${setting.name} (${source}) ${problem}${setting.secret ? '' : `, not ${JSON.stringify(value)}`}`,
    );
  return value;
}

/** 24 days: the longest delay a Node timer takes. */
const MILLISECONDS_MAX = 2_147_483_647;

/** A million dollars in nano-dollars leaves room below the largest whole number that JavaScript counts exactly. */
const USD_MAX = 1_000_000;

const CHECKS: Readonly<Record<Extract<Kind, string>, { ok(value: string): boolean; wants: string }>> = {
  text: { ok: () => true, wants: 'must be text' },
  url: { ok: isHttpUrl, wants: 'must be an http:// or https:// URL without query' },
  port: { ok: (value) => /^\d{1,5}$/.test(value) && Number(value) <= 65_535, wants: 'must be a port from 0 to 65535' },
  milliseconds: {
    ok: (value) => /^[1-9]\d{0,9}$/.test(value) && Number(value) <= MILLISECONDS_MAX,
    wants: 'must be a whole number of milliseconds',
  },
  days: { ok: (value) => /^\d{1,5}$/.test(value), wants: 'must be a whole number of days from 0 to 99999' },
  usd: {
    ok: (value) => /^\d{1,7}(\.\d{1,9})?$/.test(value) && Number(value) <= USD_MAX,
    wants: 'must be an amount in USD of at most 1000000, such as 10 or 2.50',
  },
  flag: { ok: (value) => value === 'true' || value === 'false', wants: 'must be true or false' },
};

function problemOf(kind: Kind, value: string): string | undefined {
  if (typeof kind !== 'string') return kind.includes(value) ? undefined : `must be one of ${kind.join(', ')}`;
  return CHECKS[kind].ok(value) ? undefined : CHECKS[kind].wants;
}

function isHttpUrl(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const url = new URL(value);
  return ['http:', 'https:'].includes(url.protocol) && url.search === '' && url.hash === '' && url.username === '';
}

function dialectOf(value: string | undefined): Settings['upstreamDialect'] {
  return value === 'openrouter' || value === 'openai' ? value : 'auto';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
