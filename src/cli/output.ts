// How a command speaks: one result on standard output, as text or as JSON, and notes for people on standard error.

import { styleText } from 'node:util';
import type { CliIo } from './cli-io.ts';
import { printable } from './text-width.ts';

export type Paint = Readonly<Record<'bold' | 'dim' | 'green' | 'yellow' | 'red', (text: string) => string>>;

export type Output = {
  readonly json: boolean;
  /** Columns that text on standard output may take; `Infinity` when it is piped. */
  readonly width: number;
  readonly paint: Paint;
  /** The result: `value` with `--json`, else what `text` makes, which ends with a line feed. */
  readonly result: (value: unknown, text: () => string) => void;
  /** Text on standard output that is neither: CSV. */
  readonly raw: (text: string) => void;
  /** A line for people, kept out of the result. */
  readonly note: (text: string) => void;
};

export function createOutput(io: CliIo, json: boolean): Output {
  return {
    json,
    width: io.stdout.columns ?? Number.POSITIVE_INFINITY,
    paint: createPaint(!json && hasColour(io, io.stdout.isTerminal)),
    result: (value, text) => io.stdout.write(json ? `${JSON.stringify(value, null, 2)}\n` : text()),
    raw: (text) => io.stdout.write(text),
    note: (text) => io.stderr.write(`${printable(text)}\n`),
  };
}

export function hasColour(io: CliIo, isTerminal: boolean): boolean {
  return isTerminal && !io.env['NO_COLOR'] && !io.env['CI'] && io.env['TERM'] !== 'dumb';
}

export function createPaint(enabled: boolean): Paint {
  const style = (name: keyof Paint) => (text: string) =>
    // The stream was looked at already, so it is not asked again.
    enabled ? styleText(name, text, { validateStream: false }) : text;
  return {
    bold: style('bold'),
    dim: style('dim'),
    green: style('green'),
    yellow: style('yellow'),
    red: style('red'),
  };
}
