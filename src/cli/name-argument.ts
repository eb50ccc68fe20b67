// The name that a command is about: its argument, or `--name`.

import { usageError } from './cli-error.ts';
import type { CommandInput } from './command.ts';

/** Throws a usage error where it is missing, empty, or given twice with different values. */
export function nameArgument(input: CommandInput, usage: string): string {
  const argument = input.args[0];
  const option = input.options.text('name');
  if (argument !== undefined && option !== undefined && argument !== option) {
    throw usageError('the name is given twice, as an argument and as --name', `usage: svc ${usage}`);
  }
  const name = argument ?? option;
  if (!name) throw usageError('the name is missing', `usage: svc ${usage}`);
  return name;
}
