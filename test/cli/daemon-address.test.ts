// Where the daemon is looked for, in which order.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findDaemon } from '../../src/cli/daemon-address.ts';
import { loadSettings } from '../../src/daemon/settings.ts';
import { type Home, makeHome } from './helpers/run-cli.ts';

let home: Home;
beforeEach(async () => {
  home = await makeHome();
});
afterEach(() => home.remove());

const settingsOf = (flags: Record<string, string> = {}, env: Record<string, string> = {}) =>
  loadSettings({ flags: { home: home.path, ...flags }, env });
const writeDaemonFile = (content: unknown) =>
  writeFile(join(home.path, 'daemon.json'), typeof content === 'string' ? content : JSON.stringify(content));
const DAEMON = { pid: 7, url: 'http://127.0.0.1:5001', version: '1.2.3', startedAt: '2026-01-01T00:00:00Z' };

describe('findDaemon', () => {
  it('takes the flag before the environment before daemon.json before the default', async () => {
    const flag = { baseUrl: 'http://flag:1/' };
    const env = { SVC_BASE_URL: 'http://env:2' };
    expect(await findDaemon(settingsOf())).toMatchObject({ url: 'http://127.0.0.1:4747', source: 'default' });
    await writeDaemonFile(DAEMON);
    expect(await findDaemon(settingsOf())).toEqual({ url: DAEMON.url, source: 'daemon-file', daemon: DAEMON });
    expect(await findDaemon(settingsOf({}, env))).toMatchObject({ url: 'http://env:2', source: 'given' });
    expect(await findDaemon(settingsOf(flag, env))).toMatchObject({ url: 'http://flag:1', source: 'given' });
  });

  it.each([
    [{ SVC_PORT: '5000' }, 'http://127.0.0.1:5000'],
    [{ SVC_PORT: '0' }, 'http://127.0.0.1:4747'],
    [{ SVC_HOST: '0.0.0.0' }, 'http://127.0.0.1:4747'],
    [{ SVC_HOST: '::1' }, 'http://[::1]:4747'],
    [{ SVC_HOST: 'box.lan', SVC_PORT: '80' }, 'http://box.lan:80'],
  ])('makes the default address of %j', async (env, url) => {
    expect((await findDaemon(settingsOf({}, env))).url).toBe(url);
  });

  it.each(['', '{', '[]', 'null', '{}', '{"url":5}', '{"url":"file:///etc"}', '{"url":"http://"}'])(
    'calls daemon.json with %j damaged, but only where it is needed',
    async (text) => {
      await writeDaemonFile(text);
      await expect(findDaemon(settingsOf())).rejects.toMatchObject({ exitCode: 78 });
      expect((await findDaemon(settingsOf({ baseUrl: 'http://given' }))).url).toBe('http://given');
    },
  );

  it('does without the fields that are only for show', async () => {
    await writeDaemonFile({ url: 'http://127.0.0.1:1/' });
    expect(await findDaemon(settingsOf())).toMatchObject({
      url: 'http://127.0.0.1:1',
      daemon: { pid: 0, version: '' },
    });
  });
});
