// `svc models`: virtual and real models, with prices and abilities.

import type { ModelView } from '../../api/types.ts';
import type { CommandInput } from '../command.ts';
import { connectInference } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';
import type { Output } from '../output.ts';
import { renderTable } from '../table.ts';
import { usdText } from '../usd-text.ts';

const VIRTUAL_PREFIX = 'svc:';
const ABILITIES_SHOWN = 4;

const VIRTUAL_COLUMNS = [{ header: 'VIRTUAL MODEL' }, { header: 'FOR', shrinks: true }] as const;
const REAL_COLUMNS = [
  { header: 'MODEL', shrinks: true },
  { header: 'INPUT/M', align: 'right' },
  { header: 'OUTPUT/M', align: 'right' },
  { header: 'CONTEXT', align: 'right' },
  { header: 'ABILITIES', shrinks: true },
] as const;

export async function runModels(input: CommandInput): Promise<number> {
  const { client } = await connectInference(input);
  const list = await client.models();
  input.output.result(list, () => render(list.data, input.output));
  return EXIT.ok;
}

function render(models: readonly ModelView[], output: Output): string {
  const style = { width: output.width, header: output.paint.dim };
  const virtual = models.filter(({ id }) => id.startsWith(VIRTUAL_PREFIX));
  const real = models.filter(({ id }) => !id.startsWith(VIRTUAL_PREFIX));
  const tables = [
    virtual.length === 0
      ? ''
      : renderTable(
          VIRTUAL_COLUMNS,
          virtual.map((model) => [model.id, model.description ?? '']),
          style,
        ),
    real.length === 0 ? '' : renderTable(REAL_COLUMNS, real.map(realRow), style),
  ];
  return tables.filter((table) => table !== '').join('\n');
}

function realRow(model: ModelView): readonly string[] {
  return [
    model.id,
    priceText(model.pricing?.['input_per_million']),
    priceText(model.pricing?.['output_per_million']),
    model.context_length === undefined ? '' : tokensText(model.context_length),
    abilitiesText(model.abilities ?? {}),
  ];
}

function priceText(perMillionTokens: string | undefined): string {
  return perMillionTokens === undefined ? '?' : usdText(perMillionTokens);
}

/** `200k`, `1M`: round numbers are what context lengths are compared by. */
function tokensText(tokens: number): string {
  if (tokens >= 1_000_000) return `${Number((tokens / 1_000_000).toFixed(1))}M`;
  return tokens >= 1_000 ? `${Math.round(tokens / 1_000)}k` : String(tokens);
}

/** The general ability first, then the best ones. */
function abilitiesText(abilities: Readonly<Record<string, number>>): string {
  const { general, ...others } = abilities;
  const best = Object.entries(others).sort(([, a], [, b]) => b - a);
  const all = general === undefined ? best : [['general', general] as const, ...best];
  return all
    .slice(0, ABILITIES_SHOWN)
    .map(([name, value]) => `${name} ${value.toFixed(2)}`)
    .join(', ');
}
