// Every kind of failure and the exit code, code and hint it ends with.

import { CommanderError } from 'commander';
import { describe, expect, it } from 'vitest';
import { ApiClientError, DaemonUnreachableError } from '../../src/api/client-errors.ts';
import { CliError, damagedState, notFound, notLoggedIn, permissionError, usageError } from '../../src/cli/cli-error.ts';
import { describeError, renderErrorObject } from '../../src/cli/error-report.ts';
import { SettingsError } from '../../src/daemon/settings.ts';
import { ERROR_TABLE } from '../../src/wire/svc-error.ts';

const apiErrorOf = (status: number, code: string): ApiClientError =>
  new ApiClientError({ status, code, message: 'm', retryable: false, requestId: 'req_1' });
const systemError = (code: string): Error => Object.assign(new Error('m'), { code });

const EXIT_BY_STATUS: Readonly<Record<number, number>> = { 401: 3, 402: 6, 403: 3, 404: 4, 429: 6 };

describe('exit codes', () => {
  it.each(Object.entries(ERROR_TABLE))('of the daemon error %s go by its status', (code, { status }) => {
    const report = describeError(apiErrorOf(status, code));
    expect(report).toMatchObject({ exitCode: EXIT_BY_STATUS[status] ?? 1, code, status });
  });

  it.each([
    ['a usage error', usageError('m'), 2],
    ["commander's error", new CommanderError(1, 'commander.unknownOption', 'error: m'), 2],
    ['nobody logged in', notLoggedIn('m'), 3],
    ['nothing found', notFound('m'), 4],
    ['no daemon', new DaemonUnreachableError('http://x', 'm'), 5],
    ['file permissions', permissionError('m', 'h'), 77],
    ['EACCES', systemError('EACCES'), 77],
    ['EPERM', systemError('EPERM'), 77],
    ['a missing file', systemError('ENOENT'), 4],
    ['damaged state', damagedState('m', 'h'), 78],
    ['wrong settings', new SettingsError('m'), 78],
    ['settings that may not be read', new SettingsError('m', 77), 77],
    ['something that is not svc', apiErrorOf(404, 'UNEXPECTED_ANSWER'), 1],
    ['anything else', new Error('m'), 1],
    ['what is no error at all', 'm', 1],
    ['a cancelled question', new CliError('CANCELLED', 1, 'm'), 1],
  ])('of %s', (_name, error, exitCode) => {
    const report = describeError(error);
    expect(report.exitCode).toBe(exitCode);
    expect(report.message).toContain('m');
  });
});

describe('hints', () => {
  it.each([
    ['INVALID_SESSION', 401, /svc login.*--register/],
    ['INVALID_CREDENTIALS', 401, /--register/],
    ['INVALID_API_KEY', 401, /SVC_API_KEY/],
    ['MISSING_API_KEY', 401, /svc keys create/],
    ['INSUFFICIENT_CREDITS', 402, /svc credits show/],
    ['RATE_LIMITED', 429, /try again later/],
    ['INTERNAL_ERROR', 500, /req_1/],
    ['UNEXPECTED_ANSWER', 200, /--base-url/],
  ])('%s says what to do', (code, status, hint) => {
    expect(describeError(apiErrorOf(status, code)).hint).toMatch(hint);
  });

  it('say how long to wait where the daemon said so', () => {
    const error = new ApiClientError({
      status: 429,
      code: 'RATE_LIMITED',
      message: 'm',
      retryable: true,
      requestId: undefined,
      retryAfterSeconds: 6.2,
    });
    expect(describeError(error).hint).toBe('try again in 7 s');
  });

  it('are absent where there is nothing to say', () => {
    expect(describeError(apiErrorOf(400, 'INVALID_REQUEST')).hint).toBeUndefined();
  });
});

describe('the error object', () => {
  it('has the parts that are known, and no others', () => {
    expect(renderErrorObject(describeError(apiErrorOf(401, 'INVALID_SESSION')))).toEqual({
      error: {
        code: 'INVALID_SESSION',
        message: 'm',
        retryable: false,
        hint: expect.any(String),
        status: 401,
        request_id: 'req_1',
        exit_code: 3,
      },
    });
    expect(renderErrorObject(describeError(usageError('m')))).toEqual({
      error: { code: 'USAGE', message: 'm', retryable: false, exit_code: 2 },
    });
  });
});
