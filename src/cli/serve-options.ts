// The options of `svc serve`, made from the settings table so that the two can't differ.

import { SETTINGS, type SettingRow } from '../daemon/settings.ts';
import type { OptionSpec } from './command.ts';

/** What only clients of the daemon use. */
const CLIENT_ONLY: ReadonlySet<string> = new Set(['baseUrl', 'apiKey', 'token']);

/** The settings that have a flag: secrets come from the environment only. */
export function serveSettings(): readonly SettingRow[] {
  return SETTINGS.filter((setting) => !setting.secret && !CLIENT_ONLY.has(setting.name));
}

export function serveOptions(): readonly OptionSpec[] {
  return serveSettings().map((setting) => {
    const fallback = setting.default === '' ? '' : ` (default: ${setting.default})`;
    const values = typeof setting.kind === 'string' ? '' : `: ${setting.kind.join(' | ')}`;
    const help = `${setting.help}${values}${fallback} [${setting.env}]`;
    return setting.kind === 'flag'
      ? { flags: `${setting.flag} [true|false]`, help }
      : { flags: `${setting.flag} <${setting.kind === 'milliseconds' ? 'ms' : 'value'}>`, help };
  });
}

/** The settings without a flag, for the end of the help. */
export function environmentHelp(): string {
  const secrets = SETTINGS.filter(({ secret, name }) => secret && !CLIENT_ONLY.has(name));
  return `\nFrom the environment only:\n${secrets.map(({ env, help }) => `  ${env}  ${help}`).join('\n')}`;
}
