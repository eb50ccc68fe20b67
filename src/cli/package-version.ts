// The version of this package, from its package.json; read only when asked for.

import { readFileSync } from 'node:fs';

/** `unknown` where package.json can't be read: no command should fail for that. */
export function readPackageVersion(): string {
  try {
    // Two folders up from src/cli and from dist/cli alike.
    const parsed: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    if (typeof parsed === 'object' && parsed !== null && 'version' in parsed && typeof parsed.version === 'string') {
      return parsed.version;
    }
  } catch {
    // Falls through: the version is for show.
  }
  return 'unknown';
}
