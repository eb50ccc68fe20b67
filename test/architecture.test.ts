// Holds the layer table of the README (and its purity rules) against what the files really import.

import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const SRC = fileURLToPath(new URL('../src', import.meta.url));

/** Layer → what it may import: other layers or single modules of them. Packages are listed where they are limited. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  wire: [],
  routing: ['wire/neutral'],
  ledger: ['routing/catalog'],
  identity: [],
  store: ['wire', 'routing', 'ledger', 'identity'],
  upstream: ['wire', 'routing'],
  service: ['wire', 'routing', 'ledger', 'identity', 'store/store', 'upstream/upstream', 'api/types'],
  http: ['wire', 'service', 'api/types'],
  api: [],
  daemon: ['wire', 'routing', 'ledger', 'identity', 'store', 'upstream', 'service', 'http', 'api'],
  cli: [
    'api',
    'daemon/settings',
    'daemon/run-daemon',
    'daemon/package-root',
    'daemon/ledger-tools',
    'daemon/ledger-views',
  ],
};

const PURE = ['wire', 'routing', 'ledger', 'identity'];
const PURE_MAY_USE = new Set(['node:crypto', 'node:buffer']);
const IMPURE =
  /\b(process\.|Date\.now\(|new Date\(\)|Math\.random\(|setTimeout\(|setInterval\(|setImmediate\(|fetch\(|performance\.)/;
const LINES_MAX = 300;

type Source = {
  readonly path: string;
  readonly layer: string;
  readonly text: string;
  readonly imports: readonly string[];
};

const sources: readonly Source[] = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.tsx?$/.test(path))
  .map((path) => {
    const text = readFileSync(join(SRC, path), 'utf8');
    const imports = [...text.matchAll(/(?:from|import\()\s*'([^']+)'/g)].map((match) => match[1] ?? '');
    return { path, layer: path.split('/')[0] ?? '', text, imports };
  });

const withoutComments = (text: string): string => text.replaceAll(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*$/gm, '');

describe('the layers', () => {
  it('are the folders of src, all of them in the table', () => {
    expect([...new Set(sources.map(({ layer }) => layer))].sort()).toEqual(Object.keys(MAY_IMPORT).sort());
  });

  it.each(sources.map((source) => [source.path, source] as const))(
    '%s imports only what its layer may',
    (path, source) => {
      const allowed = MAY_IMPORT[source.layer] ?? [];
      const wrong = source.imports
        .filter((name) => name.startsWith('.'))
        .map((name) => relative(SRC, resolve(SRC, dirname(path), name)).replace(/\.tsx?$/, ''))
        .filter((target) => target.split('/')[0] !== source.layer)
        .filter((target) => !allowed.some((entry) => target === entry || target.startsWith(`${entry}/`)));
      expect(wrong).toEqual([]);
    },
  );

  it.each(sources.filter(({ layer }) => PURE.includes(layer)).map((source) => [source.path, source] as const))(
    '%s is pure: no clock, chance, process, timer or network, and no package',
    (_path, source) => {
      expect(withoutComments(source.text)).not.toMatch(IMPURE);
      const packages = source.imports.filter((name) => !name.startsWith('.') && !PURE_MAY_USE.has(name));
      expect(packages).toEqual([]);
      if (source.layer === 'wire' || source.layer === 'routing') expect(source.imports).not.toContain('node:crypto');
    },
  );

  it('keep undici in upstream, Koa in http, and the environment in one file', () => {
    const users = (pattern: RegExp): string[] =>
      sources.filter(({ text }) => pattern.test(withoutComments(text))).map(({ path }) => path);
    expect(users(/from 'undici'/).every((path) => path.startsWith('upstream/'))).toBe(true);
    expect(
      users(/from '(koa|@koa\/router|koa-body)'/).filter(
        (path) => !path.startsWith('http/') && path !== 'daemon/compose.ts',
      ),
    ).toEqual([]);
    expect(users(/process\.env/)).toEqual(['daemon/settings.ts']);
  });
});

describe('the files', () => {
  it.each(sources.map((source) => [source.path, source] as const))(
    '%s is short and says its job in its first line',
    (_path, source) => {
      expect(source.text.split('\n').length).toBeLessThanOrEqual(LINES_MAX + 1);
      expect(source.text).toMatch(/^(#!.*\n)?(\/\/ |\/\*\* )/);
    },
  );

  it('have names that no other file of src has', () => {
    const names = sources.map(({ path }) => basename(path)).filter((name) => name !== 'main.ts');
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });
});
