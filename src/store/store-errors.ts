// Why a data directory cannot be used: each error names its cause and carries the exit code of the daemon.

/** A file that must be there is missing or unreadable; going on would mean starting from nothing. */
export class DamagedStateError extends Error {
  override readonly name: string = 'DamagedStateError';
  readonly exitCode = 78;
  readonly file: string;

  constructor(file: string, message: string, cause?: unknown) {
    super(`${file}: ${message}`, cause === undefined ? undefined : { cause });
    this.file = file;
  }
}

/** The journal is damaged inside, at byte `offset` of `file`, where the record with number `seq` should be. */
export class DamagedJournalError extends DamagedStateError {
  override readonly name = 'DamagedJournalError';
  readonly offset: number;
  readonly seq: number;

  constructor(place: { file: string; offset: number; seq: number }, reason: string, cause?: unknown) {
    super(place.file, `the journal is damaged at byte ${place.offset}, record ${place.seq}: ${reason}`, cause);
    this.offset = place.offset;
    this.seq = place.seq;
  }
}

/** Another live process has the data directory; `pid` where it answered. */
export class DataDirectoryInUseError extends Error {
  override readonly name = 'DataDirectoryInUseError';
  readonly exitCode = 75;
  readonly directory: string;
  readonly pid: number | undefined;

  constructor(directory: string, pid: number | undefined) {
    super(`${directory} is in use by another daemon (${pid === undefined ? 'it does not answer' : `pid ${pid}`})`);
    this.directory = directory;
    this.pid = pid;
  }
}

/** The data directory or a file in it has the wrong owner or mode, or cannot be written; the message says how to mend it. */
export class FilePermissionError extends Error {
  override readonly name = 'FilePermissionError';
  readonly exitCode = 77;
  readonly path: string;

  constructor(path: string, message: string, cause?: unknown) {
    super(`${path}: ${message}`, cause === undefined ? undefined : { cause });
    this.path = path;
  }
}

const PERMISSION_CODES: readonly string[] = ['EACCES', 'EPERM', 'EROFS'];

/** What the system says of a directory it keeps from us, with a way out; any other error as it is. */
export function permissionError(path: string, error: unknown): unknown {
  if (!PERMISSION_CODES.includes(errorCode(error) ?? '')) return error;
  const hint = 'cannot be read and written; check its owner and that it is not read-only';
  return new FilePermissionError(path, hint, error);
}

const MISPLACED_CODES: readonly string[] = ['EISDIR', 'ENOTDIR', 'EEXIST', 'ELOOP'];

/** A directory where a file belongs, or the reverse, is damage that names the place; any other error as it is. */
export function misplacedError(error: unknown): unknown {
  if (!MISPLACED_CODES.includes(errorCode(error) ?? '')) return error;
  const path = error instanceof Error && 'path' in error && typeof error.path === 'string' ? error.path : 'a file';
  return new DamagedStateError(path, 'something else stands where svc keeps a file or directory of its own', error);
}

/** The `code` of a system error, such as `ENOENT`; undefined for anything else. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
