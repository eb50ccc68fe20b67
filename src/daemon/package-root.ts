// Where the package's own files are: the same place from `src/` (tests) and from `dist/` (what is shipped).

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Absolute path of a file below the package's root, e.g. `config/catalog.json`. */
export function packageFile(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url));
}

export function packageVersion(): string {
  const parsed: unknown = JSON.parse(readFileSync(packageFile('package.json'), 'utf8'));
  return typeof parsed === 'object' && parsed !== null && 'version' in parsed ? String(parsed.version) : '0.0.0';
}
