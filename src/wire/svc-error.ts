// The one table of errors: every code svc answers with, its HTTP status and whether a retry may succeed.

export type ErrorCode = keyof typeof ERROR_TABLE;

type ErrorRow = {
  readonly status: number;
  readonly retryable: boolean;
  /** One line for people, as the README shows it. */
  readonly meaning: string;
};

export const ERROR_TABLE = {
  INVALID_REQUEST: { status: 400, retryable: false, meaning: 'a field is missing or wrong; the message names it' },
  INVALID_JSON: { status: 400, retryable: false, meaning: 'the body is not JSON' },
  INVALID_MODEL: { status: 400, retryable: false, meaning: 'no such model' },
  CONTEXT_LENGTH_EXCEEDED: { status: 400, retryable: false, meaning: 'the prompt does not fit the model' },
  UNSUPPORTED_FEATURE: { status: 400, retryable: false, meaning: 'the request asks for what svc does not do' },
  MISSING_API_KEY: { status: 401, retryable: false, meaning: 'no API key was sent' },
  INVALID_API_KEY: { status: 401, retryable: false, meaning: 'the API key is unknown, expired or revoked' },
  INVALID_SESSION: { status: 401, retryable: false, meaning: 'the session is unknown or over; log in again' },
  INVALID_CREDENTIALS: { status: 401, retryable: false, meaning: 'wrong email or password' },
  INSUFFICIENT_CREDITS: { status: 402, retryable: false, meaning: 'the workspace or the key has too few credits' },
  FORBIDDEN: { status: 403, retryable: false, meaning: 'your role does not allow this' },
  MODEL_NOT_ALLOWED: {
    status: 403,
    retryable: false,
    meaning: 'the key or the installation does not allow this model',
  },
  NOT_FOUND: { status: 404, retryable: false, meaning: 'no such route or thing, or it is not yours' },
  METHOD_NOT_ALLOWED: { status: 405, retryable: false, meaning: 'the route exists, but not with this method' },
  NOT_ACCEPTABLE: { status: 406, retryable: false, meaning: 'the answer cannot be had in the type asked for' },
  CONFLICT: { status: 409, retryable: false, meaning: 'it exists already' },
  REQUEST_TOO_LARGE: { status: 413, retryable: false, meaning: 'the body is over the limit' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, retryable: false, meaning: 'the body is not application/json, or is encoded' },
  MISDIRECTED_REQUEST: { status: 421, retryable: false, meaning: 'the Host header does not name this daemon' },
  IDEMPOTENCY_MISMATCH: { status: 422, retryable: false, meaning: 'the Idempotency-Key was used with another body' },
  RATE_LIMITED: { status: 429, retryable: true, meaning: 'a limit of the key or the workspace is reached' },
  UPSTREAM_RATE_LIMITED: { status: 429, retryable: true, meaning: 'the upstream is limiting requests' },
  INTERNAL_ERROR: { status: 500, retryable: true, meaning: 'a fault in svc; the log has it under the request id' },
  UPSTREAM_ERROR: { status: 502, retryable: true, meaning: 'the upstream failed or refused' },
  UPSTREAM_TIMEOUT: { status: 502, retryable: true, meaning: 'the upstream did not answer in time' },
  UPSTREAM_INVALID_RESPONSE: { status: 502, retryable: true, meaning: 'the upstream answered with something unusable' },
  SHUTTING_DOWN: { status: 503, retryable: true, meaning: 'the daemon is stopping' },
  STORAGE_UNAVAILABLE: { status: 503, retryable: true, meaning: 'the journal cannot be written (disk full)' },
  OVERLOADED: { status: 503, retryable: true, meaning: 'too much work at once' },
} as const satisfies Record<string, ErrorRow>;

export type SvcErrorDetail = {
  /** The request field at fault, as `error.param`. */
  readonly param?: string;
  /** Seconds after which a retry makes sense, as `Retry-After`. */
  readonly retryAfterSeconds?: number;
  /** The upstream said that it has too much to do: `error.type` says so in the dialects' own word. */
  readonly overloaded?: boolean;
  readonly cause?: unknown;
};

/** The only error that reaches a client. `message` says what was wrong and what to do; it never holds a secret. */
export class SvcError extends Error {
  override readonly name = 'SvcError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly retryable: boolean;
  readonly param: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly overloaded: boolean;

  constructor(code: ErrorCode, message: string, detail: SvcErrorDetail = {}) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    const row = ERROR_TABLE[code];
    this.code = code;
    this.status = row.status;
    this.retryable = row.retryable;
    this.param = detail.param;
    this.retryAfterSeconds = detail.retryAfterSeconds;
    this.overloaded = detail.overloaded ?? false;
  }
}

export function isSvcError(error: unknown): error is SvcError {
  return error instanceof SvcError;
}
