// `svc credits add`: grants credits to the current workspace; for the operator.

import { randomUUID } from 'node:crypto';
import { DaemonUnreachableError } from '../../api/client-errors.ts';
import { usageError } from '../cli-error.ts';
import type { CommandInput } from '../command.ts';
import { connectSession } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';
import { isPositiveUsd, usdExact } from '../usd-text.ts';

export async function runCreditsAdd(input: CommandInput): Promise<number> {
  const amount = input.args[0] ?? '';
  if (!isPositiveUsd(amount)) {
    throw usageError(
      `the amount must be USD such as 10 or 2.50 (at most nine digits before and after the point), not ${JSON.stringify(amount)}`,
    );
  }
  const key = input.options.text('idempotencyKey') ?? randomUUID();
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw usageError('--idempotency-key must be 1 to 255 visible ASCII characters');
  }
  const note = input.options.text('note');
  const { client, workspaceId } = await connectSession(input);
  const id = await workspaceId();
  const granted = await client
    .grant(id, { amount, ...(note === undefined ? {} : { note }) }, key)
    .catch((error: unknown) => {
      // It may have been added although the answer never came.
      if (error instanceof DaemonUnreachableError) input.output.note(`to repeat it safely: --idempotency-key ${key}`);
      throw error;
    });
  input.output.result(
    granted,
    () => `Added ${usdExact(granted.amount)}. The balance is ${usdExact(granted.balance)}.\n`,
  );
  return EXIT.ok;
}
