// A data directory that the daemon may not use: it does not start, exits with 77, and says in one line how to mend it.

import { execFileSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BIN } from '../helpers/daemon.ts';
import { startToEnd } from './daemon-under.ts';
import { isRoot, lacks, works } from './needs.ts';
import { prepareOnce } from './prepared-home.ts';
import { mountTmpfs, NO_TMPFS } from './tmpfs.ts';

const prepared = prepareOnce();
const NOBODY = '65534';
/** Root is asked by no mode, so that only another user shows what modes do. */
const AS_NOBODY = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'];
/** A checkout below a closed home folder can be run by nobody else. */
const NO_OTHER_USER =
  !isRoot() ||
  lacks('setpriv', works('setpriv', ['--reuid', NOBODY, '--clear-groups', 'true'])) ||
  !works('setpriv', ['--reuid', NOBODY, '--clear-groups', 'test', '-r', BIN]);

/** One line, which names the directory. */
function expectHint(ended: { readonly code: number | null; readonly stderr: string }, path: string): void {
  expect([ended.code, ended.stderr]).toEqual([77, expect.stringContaining(path)]);
  expect(ended.stderr.trim().split('\n')).toHaveLength(1);
}

describe('a data directory', () => {
  it.skipIf(NO_OTHER_USER)('of another user is refused', async () => {
    const home = await prepared().copy();
    const ended = await startToEnd({ home, env: prepared().env, prefix: AS_NOBODY });
    expectHint(ended, home);
  });

  it.skipIf(NO_OTHER_USER)(
    'in which one folder is another user’s is refused, with the command that mends it',
    async () => {
      const home = await prepared().copy();
      execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, home]);
      execFileSync('chown', ['-R', '0:0', join(home, 'journal')]);
      chmodSync(join(home, 'journal'), 0o755);
      const ended = await startToEnd({ home, env: prepared().env, prefix: AS_NOBODY });
      expectHint(ended, join(home, 'journal'));
      expect(ended.stderr).toContain(`chown -R ${NOBODY}`);
    },
  );

  it.skipIf(NO_OTHER_USER)('that may be read and not written is refused', async () => {
    const home = await prepared().copy();
    execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, home]);
    execFileSync('chmod', ['-R', 'a-w', home]);
    expectHint(await startToEnd({ home, env: prepared().env, prefix: AS_NOBODY }), home);
  });

  it.skipIf(NO_TMPFS)('on a read-only file system is refused', async () => {
    const disk = await mountTmpfs('8m');
    const home = await prepared().copy(join(disk.path, 'home'));
    disk.remount('ro');
    expectHint(await startToEnd({ home, env: prepared().env }), home);
  });
});
