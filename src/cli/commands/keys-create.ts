// `svc keys create`: makes an API key and prints its secret, this once.

import type { ApiKeyCreate } from '../../api/types.ts';
import { usageError } from '../cli-error.ts';
import type { CommandInput } from '../command.ts';
import { connectSession } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';
import { nameArgument } from '../name-argument.ts';
import { numberOption } from '../number-option.ts';
import { timeOption } from '../time-option.ts';
import { isPositiveUsd } from '../usd-text.ts';

/** The secret is alone on standard output, so that `KEY=$(svc keys create ci)` works. */
export async function runKeysCreate(input: CommandInput): Promise<number> {
  const body = bodyOf(input);
  const { client, workspaceId } = await connectSession(input);
  const created = await client.createApiKey(await workspaceId(), body);
  input.output.note(`Created API key ${created.name} (${created.id}). Its secret is shown this once; keep it now.`);
  input.output.result(created, () => `${created.key}\n`);
  return EXIT.ok;
}

function bodyOf(input: CommandInput): ApiKeyCreate {
  const { options } = input;
  const name = nameArgument(input, 'keys create NAME');
  const expires = timeOption(input, 'expires', '--expires', 'future');
  const models = options.text('models');
  const requests = numberOption(options, 'requestsPerMinute', '--requests-per-minute');
  const tokens = numberOption(options, 'tokensPerMinute', '--tokens-per-minute');
  const budget = options.text('budget');
  const period = options.text('budgetPeriod');
  if (budget !== undefined && !isPositiveUsd(budget)) {
    throw usageError(`--budget must be an amount in USD such as 5 or 2.50, not ${JSON.stringify(budget)}`);
  }
  if (period !== undefined && budget === undefined) throw usageError('--budget-period goes with --budget only');
  return {
    name,
    ...(expires === undefined ? {} : { expires_at: expires }),
    ...(models === undefined ? {} : { models: splitModels(models) }),
    ...(requests === undefined ? {} : { requests_per_minute: requests }),
    ...(tokens === undefined ? {} : { tokens_per_minute: tokens }),
    ...(budget === undefined ? {} : { budget }),
    ...(isPeriod(period) ? { budget_period: period } : {}),
  };
}

function splitModels(text: string): readonly string[] {
  const models = text
    .split(',')
    .map((model) => model.trim())
    .filter((model) => model !== '');
  // An empty list would allow every model: the opposite of what was meant.
  if (models.length === 0) throw usageError('--models names no model');
  return models;
}

function isPeriod(text: string | undefined): text is 'total' | 'day' | 'month' {
  return text === 'total' || text === 'day' || text === 'month';
}
