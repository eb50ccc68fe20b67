// Builds the commander tree from the command table and runs the command that the arguments name.

import { Command, CommanderError, Option } from 'commander';
import type { CliIo } from './cli-io.ts';
import { type CommandSpec, createOptionValues, type OptionSpec } from './command.ts';
import { COMMANDS, DAEMON_OPTIONS, GROUPS, HOME_OPTION, JSON_OPTION } from './command-table.ts';
import { EXIT } from './exit-codes.ts';
import { createOutput } from './output.ts';
import { readPackageVersion } from './package-version.ts';
import { environmentHelp, serveOptions } from './serve-options.ts';

const HELP_WIDTH_DEFAULT = 80;
/** Longer lines are hard to read. */
const HELP_WIDTH_MAX = 100;
/** Below it, commander does not wrap at all; its own 40 would leave the long flags of serve without. */
const HELP_TEXT_WIDTH_MIN = 20;

/** Resolves with the exit code; throws whatever the command or commander threw. */
export async function runProgram(argv: readonly string[], io: CliIo): Promise<number> {
  let exitCode: number = EXIT.ok;
  const program = buildProgram(io, (code) => {
    exitCode = code;
  });
  try {
    // `svc` by itself is a question, not a mistake.
    await program.parseAsync(argv.length === 0 ? ['--help'] : argv, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok;
    throw error;
  }
  return exitCode;
}

/** The whole tree; `onDone` is told the exit code of the command that ran. */
export function buildProgram(io: CliIo, onDone: (exitCode: number) => void): Command {
  const program = new Command('svc')
    .description('Self-hosted model-routing gateway: the right model for each prompt.')
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      // The funnel in main.ts prints errors.
      outputError: () => undefined,
      getOutHelpWidth: () => Math.min(io.stdout.columns ?? HELP_WIDTH_DEFAULT, HELP_WIDTH_MAX),
      getErrHelpWidth: () => Math.min(io.stderr.columns ?? HELP_WIDTH_DEFAULT, HELP_WIDTH_MAX),
    })
    .configureHelp({ minWidthToWrap: HELP_TEXT_WIDTH_MIN })
    .addHelpText('after', '\nExample:\n  $ svc serve\n  $ svc keys create laptop --help');
  program.option('-V, --version', 'print the version');
  program.on('option:version', () => {
    io.stdout.write(`${readPackageVersion()}\n`);
    throw new CommanderError(0, 'commander.version', 'version');
  });
  for (const option of [JSON_OPTION, ...DAEMON_OPTIONS]) addOption(program, option);
  for (const spec of COMMANDS) addCommand(program, spec, io, onDone);
  return program;
}

function addCommand(program: Command, spec: CommandSpec, io: CliIo, onDone: (exitCode: number) => void): void {
  const words = spec.path.split(' ');
  const name = words.at(-1) ?? spec.path;
  const parent = words.slice(0, -1).reduce(groupOf, program);
  const command = parent.command(name).description(spec.summary);
  for (const [argument, help] of spec.args ?? []) command.argument(argument, help);
  for (const option of [...(spec.options ?? []), JSON_OPTION, ...sharedOptions(spec)]) addOption(command, option);
  if (spec.path === 'serve') command.addHelpText('after', environmentHelp());
  const heading = spec.examples.length > 1 ? 'Examples' : 'Example';
  command.addHelpText('after', `\n${heading}:\n${spec.examples.map((line) => `  $ svc ${line}`).join('\n')}`);
  command.action(async () => {
    const group = parent === program ? {} : parent.opts();
    const values = { ...program.opts(), ...group, ...command.opts() };
    const options = createOptionValues(values);
    const run = await spec.load();
    onDone(await run({ args: command.args, options, io, output: createOutput(io, options.isSet('json')) }));
  });
}

function sharedOptions(spec: CommandSpec): readonly OptionSpec[] {
  if (spec.path === 'serve') return serveOptions();
  return spec.readsFiles ? [HOME_OPTION] : DAEMON_OPTIONS;
}

function groupOf(parent: Command, word: string): Command {
  const known = parent.commands.find((command) => command.name() === word);
  if (known !== undefined) return known;
  const members = COMMANDS.filter(({ path }) => path.startsWith(`${word} `));
  const example = members.flatMap(({ examples }) => examples.slice(0, 1)).map((line) => `  $ svc ${line}`);
  const group = parent
    .command(word)
    .description(GROUPS[word] ?? '')
    .addHelpText('after', `\nExamples:\n${example.join('\n')}`);
  const shared = members.every(({ readsFiles }) => readsFiles) ? [HOME_OPTION] : DAEMON_OPTIONS;
  for (const option of [JSON_OPTION, ...shared]) addOption(group, option);
  return group;
}

function addOption(command: Command, spec: OptionSpec): void {
  const option = new Option(spec.flags, spec.help);
  if (spec.choices !== undefined) option.choices(spec.choices);
  if (spec.conflicts !== undefined) option.conflicts([...spec.conflicts]);
  command.addOption(option);
}
