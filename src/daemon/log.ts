// The structured log: NDJSON on standard error, with every field that could hold a secret redacted.

import { pino } from 'pino';
import type { ServiceLog } from '../service/completion.ts';

/** Field names whose values never reach the log, at the top or one level down. */
const SECRET_FIELDS = new Set([
  'authorization',
  'x-api-key',
  'apiKey',
  'api_key',
  'key',
  'token',
  'password',
  'passwordHash',
  'secret',
  'credential',
  'cookie',
]);
/** What a secret looks like wherever it turns up in a text: ours, an upstream's key, any bearer token. */
const SECRET_TEXT = /\b(svc_(?:sk|st|dc)_|sk-|Bearer )[\w.-]{8,}/g;
const CENSORED = '[redacted]';

export interface DaemonLog extends ServiceLog {
  flush(): void;
}

export function createLog(level: string, destination: { write(line: string): void }): DaemonLog {
  const log = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: (fields) => censored(fields, 1) },
      serializers: { error: pino.stdSerializers.errWithCause },
    },
    {
      write: (line: string) =>
        destination.write(mayHoldSecret(line) ? line.replaceAll(SECRET_TEXT, `$1${CENSORED}`) : line),
    },
  );
  return {
    debug: (fields, message) => log.debug(fields, message),
    info: (fields, message) => log.info(fields, message),
    warn: (fields, message) => log.warn(fields, message),
    error: (fields, message) => log.error(fields, message),
    flush: () => log.flush(),
  };
}

/** A cheap look, since nearly no line does. */
function mayHoldSecret(line: string): boolean {
  return line.includes('svc_') || line.includes('sk-') || line.includes('Bearer ');
}

/** The fields themselves where none is secret: a copy for every request would be felt. */
function censored(fields: Record<string, unknown>, depth: number): Record<string, unknown> {
  let copy: Record<string, unknown> | undefined;
  for (const name in fields) {
    const value = fields[name];
    const clean = SECRET_FIELDS.has(name)
      ? CENSORED
      : depth > 0 && isPlainObject(value)
        ? censored(value, depth - 1)
        : value;
    if (clean === value) continue;
    copy ??= { ...fields };
    copy[name] = clean;
  }
  return copy ?? fields;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
