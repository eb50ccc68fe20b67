// The README's tables, made from the code they describe. `npm run readme` writes them; a test compares.

import { CLIENT_SETUPS } from '../../src/cli/client-setups.ts';
import { SETTINGS } from '../../src/daemon/settings.ts';
import { PRESETS } from '../../src/routing/presets.ts';
import { SANDBOX_FAULTS } from '../../src/upstream/sandbox/sandbox-faults.ts';
import { ERROR_TABLE } from '../../src/wire/svc-error.ts';

export const README_TABLES: Readonly<Record<string, () => string>> = {
  errors: () =>
    table(
      ['status', 'code', 'retryable', 'meaning'],
      Object.entries(ERROR_TABLE).map(([code, row]) => [
        String(row.status),
        `\`${code}\``,
        row.retryable ? 'yes' : 'no',
        row.meaning,
      ]),
    ),
  settings: () =>
    table(
      ['setting', 'environment', 'default', 'what it is'],
      SETTINGS.map((row) => [
        row.secret ? '–' : `\`${row.flag}\``,
        `\`${row.env}\``,
        row.default === '' ? '' : `\`${row.default}\``,
        row.help,
      ]),
    ),
  presets: () =>
    table(
      ['model', 'speed', 'quality', 'cost', 'for'],
      PRESETS.map(({ id, weights, description }) => [
        `\`${id}\``,
        String(weights.speed),
        String(weights.quality),
        String(weights.cost),
        description,
      ]),
    ),
  clients: () =>
    table(
      ['client', 'run with', 'calls', 'seen', 'set-up'],
      CLIENT_SETUPS.map(({ name, title, version, calls, seen }) => [
        title,
        version ?? '–',
        calls === 'any' ? calls : calls.replaceAll(/[^, ]+/g, (path) => `\`${path}\``),
        seen,
        `\`svc configure ${name}\``,
      ]),
    ),
  faults: () =>
    table(
      ['`sandbox.fail`', 'what happens'],
      SANDBOX_FAULTS.map(({ name, does }) => [`\`${name}\``, does]),
    ),
};

/** The README with every `<!-- table: NAME -->` … `<!-- end -->` block filled anew. */
export function withTables(readme: string): string {
  return readme.replaceAll(
    /(<!-- table: (\w+) -->\n)[\s\S]*?(<!-- end -->)/g,
    (_block, start: string, name: string, end: string) => {
      const render = README_TABLES[name];
      if (!render) throw new Error(`the README asks for an unknown table: ${name}`);
      return `${start}${render()}${end}`;
    },
  );
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
  return `${line(head)}${line(head.map(() => '---'))}${rows.map(line).join('')}`;
}
