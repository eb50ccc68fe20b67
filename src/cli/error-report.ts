// The one place that says, for every error a command can end with, its exit code, its code and what to do.

import { CommanderError } from 'commander';
import { ApiClientError, DaemonUnreachableError } from '../api/client-errors.ts';
import { SettingsError } from '../daemon/settings.ts';
import { CliError, LOGIN_HINT } from './cli-error.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';

export type ErrorReport = {
  readonly exitCode: ExitCode;
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
  /** HTTP status, where the daemon answered. */
  readonly status?: number;
  readonly retryable: boolean;
  readonly requestId?: string | undefined;
};

export function describeError(error: unknown): ErrorReport {
  if (error instanceof CliError) {
    const { exitCode, code, message, hint } = error;
    return { exitCode, code, message, hint, retryable: false };
  }
  if (error instanceof CommanderError) return describeCommander(error);
  if (error instanceof ApiClientError) return describeApi(error);
  if (error instanceof DaemonUnreachableError) {
    const { message, hint } = error;
    return { exitCode: EXIT.unreachable, code: 'DAEMON_UNREACHABLE', message, hint, retryable: true };
  }
  if (error instanceof SettingsError) {
    const { exitCode, message } = error;
    const code = exitCode === EXIT.permissions ? 'FILE_PERMISSIONS' : 'WRONG_SETTINGS';
    return { exitCode, code, message, retryable: false };
  }
  return describeOther(error);
}

/** What scripts get on standard output with `--json`; absent fields are left out. */
export function renderErrorObject(report: ErrorReport): unknown {
  return {
    error: {
      code: report.code,
      message: report.message,
      retryable: report.retryable,
      ...(report.hint === undefined ? {} : { hint: report.hint }),
      ...(report.status === undefined ? {} : { status: report.status }),
      ...(report.requestId === undefined ? {} : { request_id: report.requestId }),
      exit_code: report.exitCode,
    },
  };
}

function describeCommander(error: CommanderError): ErrorReport {
  const message = error.code === 'commander.help' ? 'a command is missing' : error.message.replace(/^error: /, '');
  return {
    exitCode: EXIT.usage,
    code: 'USAGE',
    message,
    hint: 'see `svc --help`, or `--help` after a command',
    retryable: false,
  };
}

function describeApi(error: ApiClientError): ErrorReport {
  const { code, message, status, retryable, requestId } = error;
  return { exitCode: exitCodeOf(error), code, message, hint: hintOf(error), status, retryable, requestId };
}

function exitCodeOf(error: ApiClientError): ExitCode {
  if (error.code === 'UNEXPECTED_ANSWER') return EXIT.failed;
  switch (error.status) {
    case 401:
    case 403:
      return EXIT.notAllowed;
    case 404:
      return EXIT.notFound;
    case 402:
    case 429:
      return EXIT.noCredits;
    default:
      return EXIT.failed;
  }
}

function hintOf(error: ApiClientError): string | undefined {
  switch (error.code) {
    case 'INVALID_SESSION':
      return LOGIN_HINT;
    case 'INVALID_CREDENTIALS':
      return 'check the email and the password; with --register, `svc login` makes a new account';
    case 'MISSING_API_KEY':
    case 'INVALID_API_KEY':
      return 'check SVC_API_KEY, or make a key with `svc keys create NAME`';
    case 'INSUFFICIENT_CREDITS':
      return 'see `svc credits show`; the operator adds some with `svc credits add AMOUNT`';
    case 'RATE_LIMITED':
    case 'UPSTREAM_RATE_LIMITED':
      return error.retryAfterSeconds === undefined
        ? 'try again later'
        : `try again in ${Math.ceil(error.retryAfterSeconds)} s`;
    case 'UNEXPECTED_ANSWER':
      return 'check --base-url, SVC_BASE_URL and daemon.json in the data directory';
    default:
      return error.status >= 500 && error.requestId !== undefined
        ? `the daemon's log has it under request id ${error.requestId}`
        : undefined;
  }
}

function describeOther(error: unknown): ErrorReport {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EACCES' || code === 'EPERM') {
    return { exitCode: EXIT.permissions, code: 'FILE_PERMISSIONS', message, retryable: false };
  }
  if (code === 'ENOENT') return { exitCode: EXIT.notFound, code: 'NOT_FOUND', message, retryable: false };
  return { exitCode: EXIT.failed, code: 'FAILED', message, retryable: false };
}
