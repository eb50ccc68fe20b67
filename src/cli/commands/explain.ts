// `svc explain`: which model the router would choose for a prompt, and why.

import { readFile } from 'node:fs/promises';
import { CliError, notFound, permissionError, usageError } from '../cli-error.ts';
import type { CommandInput } from '../command.ts';
import { connectInference } from '../connection.ts';
import { renderDecision } from '../decision-text.ts';
import { EXIT } from '../exit-codes.ts';

const MODEL_DEFAULT = 'svc:auto';
const USAGE = 'usage: svc explain PROMPT, svc explain --file PATH, or svc explain -';

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
  const text = file !== undefined ? await readPromptFile(file) : await readArgument(args, io);
  if (text.trim() === '') throw usageError('the prompt is empty', USAGE);
  return text;
}

async function readPromptFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    const hint = 'give --file the path of a text file';
    if (code === 'ENOENT') throw notFound(`there is no file ${path}`, hint);
    if (code === 'EISDIR') throw usageError(`${path} is a directory`, hint);
    if (code === 'EACCES' || code === 'EPERM') throw permissionError(`${path} can't be read`, 'check its permissions');
    throw new CliError('FAILED', EXIT.failed, `${path} can't be read: ${String(code ?? error)}`, hint);
  }
}

/** Words need no quotes; `-`, or nothing where input is piped, reads standard input. */
async function readArgument(args: readonly string[], io: CommandInput['io']): Promise<string> {
  const fromStdin = (args.length === 1 && args[0] === '-') || (args.length === 0 && !io.stdin.isTerminal);
  if (fromStdin) return await io.stdin.readAll();
  if (args.length > 0) return args.join(' ');
  throw usageError('the prompt is missing', USAGE);
}
