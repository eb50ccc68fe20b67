// Asks before what can't be undone, unless `--yes` answered beforehand.

import { CliError, usageError } from './cli-error.ts';
import type { CommandInput } from './command.ts';
import { EXIT } from './exit-codes.ts';

/** Throws a usage error where there is neither `--yes` nor a terminal; `what` begins its sentence. */
export function checkCanAsk({ io, options }: CommandInput, what: string): void {
  if (options.isSet('yes') || (io.stdin.isTerminal && io.stderr.isTerminal)) return;
  throw usageError(`${what} asks first, and there is no terminal to ask on`, 'give --yes to answer beforehand');
}

/** Throws `CliError` with exit code 1 and the message `otherwise` unless the answer is yes. */
export async function confirm({ io, options }: CommandInput, question: string, otherwise: string): Promise<void> {
  if (options.isSet('yes')) return;
  const answer = await io.ask(`${question} [y/N] `);
  if (/^y(es)?$/i.test(answer.trim())) return;
  throw new CliError('CANCELLED', EXIT.failed, otherwise);
}
