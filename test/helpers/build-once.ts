// Before the suite: builds `dist/` where it is missing or older than the sources, since tests run the real binary.

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

export default function setup(): void {
  const root = new URL('../..', import.meta.url).pathname;
  const built = join(root, 'dist/cli/main.js');
  const newest = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .map((path) => statSync(join(root, 'src', path)).mtimeMs)
    .reduce((most, mtime) => Math.max(most, mtime), 0);
  if (existsSync(built) && statSync(built).mtimeMs >= newest) return;
  // In place, so that another run of the suite finds its files all the while.
  execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'config/tsconfig.build.json'], {
    cwd: root,
  });
}
