// The README against the code: its tables, its commands, its endpoints.

import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { withTables } from '../config/build/readme-tables.ts';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

it('has tables that are the code (run `npm run readme` when this fails)', () => {
  expect(withTables(readme)).toBe(readme);
});
