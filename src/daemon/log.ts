// The structured log: NDJSON on standard error, with every field that could hold a secret redacted.

import { pino } from 'pino';
import type { ServiceLog } from '../service/completion.ts';

/** Field names whose values never reach the log, at the top or one level down. */
const SECRET_FIELDS = [
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
];
/** What a secret of ours looks like wherever it turns up in a text. */
const SECRET_TEXT = /\b(svc_(?:sk|st|dc)_)[0-9A-Za-z]{8,}/g;

export interface DaemonLog extends ServiceLog {
  flush(): void;
}

export function createLog(level: string, destination: { write(line: string): void }): DaemonLog {
  const log = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: SECRET_FIELDS.flatMap((field) => [quoted(field), `*${bracketed(field)}`]),
        censor: '[redacted]',
      },
      serializers: { error: pino.stdSerializers.errWithCause },
    },
    { write: (line: string) => destination.write(line.replaceAll(SECRET_TEXT, '$1[redacted]')) },
  );
  return {
    debug: (fields, message) => log.debug(fields, message),
    info: (fields, message) => log.info(fields, message),
    warn: (fields, message) => log.warn(fields, message),
    error: (fields, message) => log.error(fields, message),
    flush: () => log.flush(),
  };
}

function quoted(field: string): string {
  return field.includes('-') ? bracketed(field) : field;
}

function bracketed(field: string): string {
  return `["${field}"]`;
}
