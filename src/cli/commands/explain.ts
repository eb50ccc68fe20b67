// `svc explain`: which model the router would choose for a prompt, and why.

import { readFile } from 'node:fs/promises';
import { usageError } from '../cli-error.ts';
import type { CommandInput } from '../command.ts';
import { connectInference } from '../connection.ts';
import { renderDecision } from '../decision-text.ts';
import { EXIT } from '../exit-codes.ts';

const MODEL_DEFAULT = 'svc:auto';

export async function runExplain(input: CommandInput): Promise<number> {
  const { options, output } = input;
  const content = await readPrompt(input);
  const { client } = await connectInference(input);
  const model = options.text('model') ?? MODEL_DEFAULT;
  const decision = await client.route({ model, messages: [{ role: 'user', content }] });
  output.result(decision, () => renderDecision(decision, output));
  return EXIT.ok;
}

async function readPrompt(input: CommandInput): Promise<string> {
  const { args, options, io } = input;
  const file = options.text('file');
  if (file !== undefined && args.length > 0) {
    throw usageError('the prompt is given twice, as an argument and as --file');
  }
  const text = file !== undefined ? await readFile(file, 'utf8') : await readArgument(args, io);
  if (text.trim() === '') throw usageError('the prompt is empty');
  return text;
}

/** Words need no quotes; `-`, or nothing where input is piped, reads standard input. */
async function readArgument(args: readonly string[], io: CommandInput['io']): Promise<string> {
  const fromStdin = (args.length === 1 && args[0] === '-') || (args.length === 0 && !io.stdin.isTerminal);
  if (fromStdin) return await io.stdin.readAll();
  if (args.length > 0) return args.join(' ');
  throw usageError('the prompt is missing', 'usage: svc explain PROMPT, svc explain --file PATH, or svc explain -');
}
