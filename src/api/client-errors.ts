// What can go wrong when talking to a daemon: it answered with an error, or it did not answer.

export type ApiClientErrorFields = {
  /** HTTP status of the answer. */
  readonly status: number;
  /** The daemon's code, or `UNEXPECTED_ANSWER` where the answer was not svc's. */
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
  readonly requestId: string | undefined;
  /** From `Retry-After`, in seconds. */
  readonly retryAfterSeconds?: number | undefined;
};

/** The daemon answered, but not with what was asked for. */
export class ApiClientError extends Error {
  override readonly name = 'ApiClientError';
  readonly status: number;
  readonly code: string;
  readonly retryable: boolean;
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(fields: ApiClientErrorFields) {
    super(fields.message);
    this.status = fields.status;
    this.code = fields.code;
    this.retryable = fields.retryable;
    this.requestId = fields.requestId;
    this.retryAfterSeconds = fields.retryAfterSeconds;
  }
}

/** No answer: nothing listens there, the connection broke, or the time limit passed. */
export class DaemonUnreachableError extends Error {
  override readonly name = 'DaemonUnreachableError';
  readonly baseUrl: string;
  readonly hint = 'is the daemon running? start it with `svc serve`';

  constructor(baseUrl: string, reason: string, cause?: unknown) {
    super(`no answer from ${baseUrl}: ${reason}`, cause === undefined ? undefined : { cause });
    this.baseUrl = baseUrl;
  }
}
