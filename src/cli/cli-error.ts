// Failures that the command line itself finds, each with its exit code and what to do about it.

import { EXIT, type ExitCode } from './exit-codes.ts';

export class CliError extends Error {
  override readonly name = 'CliError';
  /** For `--json`, beside the daemon's own codes. */
  readonly code: string;
  readonly exitCode: ExitCode;
  readonly hint: string | undefined;

  constructor(code: string, exitCode: ExitCode, message: string, hint?: string) {
    super(message);
    this.code = code;
    this.exitCode = exitCode;
    this.hint = hint;
  }
}

export function usageError(message: string, hint?: string): CliError {
  return new CliError('USAGE', EXIT.usage, message, hint);
}

export function notLoggedIn(message: string): CliError {
  return new CliError('NOT_LOGGED_IN', EXIT.notAllowed, message, LOGIN_HINT);
}

export function notFound(message: string, hint?: string): CliError {
  return new CliError('NOT_FOUND', EXIT.notFound, message, hint);
}

export function permissionError(message: string, hint: string): CliError {
  return new CliError('FILE_PERMISSIONS', EXIT.permissions, message, hint);
}

export function damagedState(message: string, hint: string): CliError {
  return new CliError('DAMAGED_STATE', EXIT.badState, message, hint);
}

export const LOGIN_HINT = 'log in with `svc login --email EMAIL --password-stdin`';
