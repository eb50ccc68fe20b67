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

export function notLoggedIn(message: string, hint = LOGIN_HINT): CliError {
  return new CliError('NOT_LOGGED_IN', EXIT.notAllowed, message, hint);
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

export const LOGIN_HINT =
  'log in with `svc login --email you@example.com --password-stdin`, adding --register for a new account';
/** For commands that an API key is enough for. */
export const KEY_OR_LOGIN_HINT = `set SVC_API_KEY to an API key, or ${LOGIN_HINT}`;
