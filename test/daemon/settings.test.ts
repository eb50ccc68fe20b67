// Settings: where each value comes from, and what is refused with which words.

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadSettings, SETTINGS, type SettingsInput } from '../../src/daemon/settings.ts';

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'svc-settings-'));
});

afterEach(() => {
  rmSync(home, { recursive: true, force: true });
});

const load = (flags: SettingsInput['flags'] = {}, env: SettingsInput['env'] = {}) =>
  loadSettings({ flags, env: { SVC_HOME: home, ...env } });
const config = (value: unknown): void =>
  writeFileSync(join(home, 'config.json'), typeof value === 'string' ? value : JSON.stringify(value));

describe('a setting', () => {
  it('comes from its default, else config.json, else the environment, else the flag', () => {
    expect(load().port).toBe(4747);
    config({ port: 5001 });
    expect(load().port).toBe(5001);
    expect(load({}, { SVC_PORT: '5002' }).port).toBe(5002);
    expect(load({ port: '5003' }, { SVC_PORT: '5002' }).port).toBe(5003);
  });

  it('takes an empty environment variable for none', () => {
    expect(load({}, { SVC_PORT: '' }).port).toBe(4747);
  });

  it('has a name, a flag and a variable that no other has', () => {
    for (const field of ['name', 'flag', 'env'] as const) {
      const values = SETTINGS.map((row) => row[field]);
      expect(new Set(values).size).toBe(values.length);
    }
  });

  it('that is a secret is read from the environment only', () => {
    expect(load({ apiKey: 'from-flag' }).apiKey).toBeUndefined();
    expect(load({}, { SVC_API_KEY: 'from-env' }).apiKey).toBe('from-env');
    config({ apiKey: 'from-file' });
    expect(() => load()).toThrow('unknown setting "apiKey"');
  });
});

describe('the data directory', () => {
  it.each([
    [{ XDG_DATA_HOME: '/data' }, '/data/svc'],
    [{ SVC_HOME: '/elsewhere', XDG_DATA_HOME: '/data' }, '/elsewhere'],
  ])('of %j is %s', (env, expected) => {
    if (process.platform !== 'linux') return;
    expect(loadSettings({ flags: {}, env }).home).toBe(expected);
  });
});

describe('a data directory that cannot be read', () => {
  it('is named where it is a file', () => {
    const path = join(home, 'file');
    writeFileSync(path, '');
    expect(() => loadSettings({ flags: { home: path }, env: {} })).toThrow(`${path} is not a directory`);
  });

  it('ends with 77 where permission is missing, and with 78 where the content is wrong', () => {
    config('{');
    expect(() => load()).toThrow(expect.objectContaining({ exitCode: 78 }));
    chmodSync(join(home, 'config.json'), 0o000);
    // Root may read everything.
    if (process.getuid?.() === 0) return;
    expect(() => load()).toThrow(expect.objectContaining({ exitCode: 77 }));
  });
});

describe('wrong settings name the setting and its source', () => {
  it.each([
    ['SVC_PORT', 'http', 'port (environment variable SVC_PORT) must be a port'],
    ['SVC_PORT', '65536', 'port'],
    ['SVC_PORT', '-1', 'port'],
    ['SVC_UPSTREAM_URL', 'openrouter.ai', 'must be an http:// or https:// URL'],
    ['SVC_UPSTREAM_URL', 'ftp://x', 'must be an http:// or https:// URL'],
    ['SVC_UPSTREAM_URL', 'http://x/?key=1', 'without query'],
    ['SVC_UPSTREAM_URL', 'http://user:secret@x', 'upstreamUrl'],
    ['SVC_DRAIN_TIMEOUT_MS', '0', 'milliseconds'],
    ['SVC_DRAIN_TIMEOUT_MS', '1.5', 'milliseconds'],
    ['SVC_DRAIN_TIMEOUT_MS', '99999999999', 'milliseconds'],
    [
      'SVC_JOURNAL_KEEP_DAYS',
      '-1',
      'journalKeepDays (environment variable SVC_JOURNAL_KEEP_DAYS) must be a whole number',
    ],
    ['SVC_JOURNAL_KEEP_DAYS', '1.5', 'whole number of days'],
    ['SVC_JOURNAL_KEEP_DAYS', '100000', 'from 0 to 99999'],
    ['SVC_LOG_LEVEL', 'loud', 'one of trace, debug'],
    ['SVC_STARTING_CREDITS', '-1', 'amount in USD'],
    ['SVC_STARTING_CREDITS', '9000000', 'at most 1000000'],
    ['SVC_ALLOW_UNKNOWN_PRICE', 'yes', 'true or false'],
    ['SVC_UPSTREAM_DIALECT', 'other', 'auto, openrouter, openai'],
  ])('%s=%s', (name, value, said) => {
    expect(() => load({}, { [name]: value })).toThrow(said);
  });

  it.each([
    ['{', 'is not JSON'],
    ['[]', 'one JSON object'],
    [{ prot: 1 }, 'unknown setting "prot"'],
    [{ port: [] }, 'port in'],
    [{ port: 'x' }, 'config.json'],
    [{ 'catalog.overrides': [] }, '"catalog.overrides"'],
    [{ 'catalog.overrides': { 'a/b': 1 } }, 'a/b'],
  ])('config.json of %j', (content, said) => {
    config(content);
    expect(() => load()).toThrow(said);
  });
});

it('journalKeepDays is a number, and 0 unless it is set', () => {
  expect(load().journalKeepDays).toBe(0);
  expect(load({}, { SVC_JOURNAL_KEEP_DAYS: '400' }).journalKeepDays).toBe(400);
  config({ journalKeepDays: 30 });
  expect(load().journalKeepDays).toBe(30);
});

it('catalog.overrides changes single fields of single models', () => {
  config({ 'catalog.overrides': { 'openai/gpt-4o': { context_length: 1000 } } });
  expect(load().catalogOverrides).toEqual({ 'openai/gpt-4o': { context_length: 1000 } });
});
