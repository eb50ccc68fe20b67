// What a command is: a row of the command table, and the function that runs it.

import type { CliIo } from './cli-io.ts';
import type { Output } from './output.ts';

export type OptionSpec = {
  /** In commander's notation: `--since <time>`; `--json` for a switch. */
  readonly flags: string;
  readonly help: string;
  readonly choices?: readonly string[];
  /** camelCase names of options that can't be given with this one. */
  readonly conflicts?: readonly string[];
};

export type CommandSpec = {
  /** Words after `svc`: `keys create`. */
  readonly path: string;
  /** Positional arguments in commander's notation, each with its help. */
  readonly args?: readonly (readonly [name: string, help: string])[];
  readonly summary: string;
  readonly options?: readonly OptionSpec[];
  /** It reads the data directory itself and talks to no daemon. */
  readonly readsFiles?: true;
  /** Command lines without their `svc`. */
  readonly examples: readonly string[];
  /** Loads the code only when the command runs, so that `svc --help` stays quick. */
  readonly load: () => Promise<RunCommand>;
};

export type CommandInput = {
  readonly args: readonly string[];
  readonly options: OptionValues;
  readonly io: CliIo;
  readonly output: Output;
};

/** Resolves with the exit code; throws what `error-report.ts` knows. */
export type RunCommand = (input: CommandInput) => Promise<number>;

/** Options by their camelCase names. */
export type OptionValues = {
  readonly text: (name: string) => string | undefined;
  readonly isSet: (name: string) => boolean;
};

export function createOptionValues(values: Readonly<Record<string, unknown>>): OptionValues {
  return {
    text: (name) => {
      const value = values[name];
      return typeof value === 'string' ? value : undefined;
    },
    isSet: (name) => values[name] === true,
  };
}
