// What `npm pack` would publish: all that runs needs, nothing that only developing needs.

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

describe('the package', () => {
  it('holds the program, its data, its licence, and neither sources nor tests', () => {
    const [pack] = JSON.parse(
      execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: ROOT, encoding: 'utf8' }),
    );
    const paths: string[] = pack.files.map(({ path }: { path: string }) => path);
    for (const path of [
      'bin/svc.js',
      'dist/cli/main.js',
      'config/catalog.json',
      'config/classifier.bin',
      'LICENSE',
      'README.md',
    ]) {
      expect(paths).toContain(path);
    }
    expect(paths.filter((path) => /^(src|test|config\/(build|corpus))\//.test(path))).toEqual([]);
    expect(pack.unpackedSize).toBeLessThan(5_000_000);
  });

  it('imports at run time only what it depends on', () => {
    const dist = join(ROOT, 'dist');
    const used = new Set<string>();
    for (const path of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
      if (!path.endsWith('.js')) continue;
      const code = readFileSync(join(dist, path), 'utf8');
      for (const [, name = ''] of code.matchAll(
        /^(?:import|export)[^'"]*?from ['"]([^.'"][^'"]*)['"]|import\(['"]([^.'"][^'"]*)['"]\)/gm,
      ))
        used.add(name);
    }
    const packages = [...used].filter(
      (name) => name !== '' && !name.startsWith('node:') && !builtinModules.includes(name),
    );
    const names = packages.map((name) =>
      name
        .split('/')
        .slice(0, name.startsWith('@') ? 2 : 1)
        .join('/'),
    );
    const runtime = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies });
    expect(names.filter((name) => !runtime.includes(name))).toEqual([]);
  });

  it('has a lockfile that names no host, and no dependency that needs an install script', () => {
    const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
    const entries: [string, { resolved?: string; hasInstallScript?: boolean; dev?: boolean; integrity?: string }][] =
      Object.entries(lock.packages);
    expect(entries.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
    expect(entries.filter(([, { hasInstallScript, dev }]) => hasInstallScript && !dev)).toEqual([]);
    expect(entries.filter(([path, { integrity }]) => path !== '' && integrity === undefined)).toEqual([]);
  });
});
