// The funnel of the command line: runs a command and turns whatever it ends with into an exit code and a message.

import type { CliIo } from './cli-io.ts';
import { describeError, type ErrorReport, renderErrorObject } from './error-report.ts';
import { createPaint, hasColour } from './output.ts';
import { runProgram } from './program.ts';
import { printable } from './text-width.ts';

/** `argv` is what follows `svc`. Never throws; resolves with the exit code. */
export async function main(argv: readonly string[], io: CliIo): Promise<number> {
  try {
    return await runProgram(argv, io);
  } catch (error) {
    const report = describeError(error);
    if (wantsJson(argv)) io.stdout.write(`${JSON.stringify(renderErrorObject(report), null, 2)}\n`);
    io.stderr.write(renderForPeople(report, io));
    if (report.code === 'FAILED' && isDebugging(io)) io.stderr.write(`${stackOf(error)}\n`);
    return report.exitCode;
  }
}

/** Asked of the arguments themselves, for they may be what is wrong. */
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end === -1 ? argv.length : end).includes('--json');
}

function renderForPeople(report: ErrorReport, io: CliIo): string {
  const paint = createPaint(hasColour(io, io.stderr.isTerminal));
  const lines = report.message.split('\n').map(printable);
  const hint = report.hint === undefined ? '' : `${paint.dim('hint:')} ${printable(report.hint)}\n`;
  return `${paint.red('error:')} ${lines.join('\n')}\n${hint}`;
}

function isDebugging(io: CliIo): boolean {
  return io.env['SVC_LOG_LEVEL'] === 'debug' || io.env['SVC_LOG_LEVEL'] === 'trace';
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
