// Password hashes: argon2id where its native module loads, scrypt otherwise; few at a time, since each takes megabytes and a core.

import { scrypt, timingSafeEqual } from 'node:crypto';
import { SvcError } from '../wire/svc-error.ts';

export type PasswordHasher = {
  /** Throws `OVERLOADED` when too many wait, as all three do. */
  hash(password: string): Promise<string>;
  verify(password: string, passwordHash: string): Promise<boolean>;
  /** Takes as long as `verify`, for accounts that do not exist. */
  verifyNobody(password: string): Promise<false>;
};

export type Argon2 = {
  hash(password: string, options: typeof ARGON2): Promise<string>;
  verify(passwordHash: string, password: string): Promise<boolean>;
};

/** 19 MiB, two passes, one lane. */
const ARGON2 = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
const SCRYPT_LOG_N = 15;
/** `maxmem` is twice the 32 MiB that 2^15 blocks of 8 take: Node's default refuses exactly that much. */
const SCRYPT = { N: 2 ** SCRYPT_LOG_N, r: 8, p: 3, maxmem: 64 * 1024 * 1024 } as const;
const SALT_BYTES = 16;
const KEY_BYTES = 32;

/** Four at once have been seen to delay an fdatasync by half a second. */
const RUNNING_MAX = 2;
/** Waiting longer than this many hashes means that the caller has given up. */
const WAITING_MAX = 20;

export type PasswordHasherDeps = {
  readonly randomBytes: (count: number) => Uint8Array;
  /** Answers undefined where the native module cannot load. */
  readonly loadArgon2?: () => Promise<Argon2 | undefined>;
};

/** The native module is loaded with the first password, so that a daemon nobody logs in to never pays for it. */
export function createPasswordHasher(deps: PasswordHasherDeps): PasswordHasher {
  const limited = createGate();
  const load = deps.loadArgon2 ?? importArgon2;
  let loading: Promise<Argon2 | undefined> | undefined;
  const argon2 = (): Promise<Argon2 | undefined> => {
    loading ??= load();
    return loading;
  };
  const verify = async (password: string, passwordHash: string): Promise<boolean> => {
    if (passwordHash.startsWith('$scrypt$')) return verifyScrypt(password, passwordHash);
    const native = await argon2();
    if (native) return native.verify(passwordHash, password);
    throw new SvcError(
      'INTERNAL_ERROR',
      'This password was hashed with argon2id, which does not load on this machine.',
    );
  };
  return {
    hash: (password) =>
      limited(async () => {
        const native = await argon2();
        return native ? native.hash(password, ARGON2) : hashScrypt(password, deps.randomBytes(SALT_BYTES));
      }),
    verify: (password, passwordHash) => limited(() => verify(password, passwordHash)),
    verifyNobody: (password) =>
      limited(async () => {
        await verify(password, nobodysHash((await argon2()) !== undefined));
        return false as const;
      }),
  };
}

/** Lets `RUNNING_MAX` through and `WAITING_MAX` wait, in order. */
function createGate(): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running < RUNNING_MAX) running += 1;
    else if (waiting.length >= WAITING_MAX) {
      throw new SvcError('OVERLOADED', 'Too many people are logging in at once; try again in a moment.', {
        retryAfterSeconds: 1,
      });
    } else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      // A waiting one takes the place over, so that nobody can slip in between.
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}

async function importArgon2(): Promise<Argon2 | undefined> {
  try {
    return await import('@node-rs/argon2');
  } catch {
    // No prebuilt binary for this platform: scrypt serves.
    return undefined;
  }
}

/** A well-formed hash that no password has: its salt and key are zeros. */
function nobodysHash(argon2: boolean): string {
  const salt = new Uint8Array(SALT_BYTES);
  const key = new Uint8Array(KEY_BYTES);
  if (!argon2) return renderScrypt(salt, key);
  return `$argon2id$v=19$m=${ARGON2.memoryCost},t=${ARGON2.timeCost},p=${ARGON2.parallelism}$${base64(salt)}$${base64(key)}`;
}

async function hashScrypt(password: string, salt: Uint8Array): Promise<string> {
  return renderScrypt(salt, await deriveKey(password, salt));
}

async function verifyScrypt(password: string, passwordHash: string): Promise<boolean> {
  const [salt = '', key = ''] = passwordHash.split('$').slice(3);
  const expected = Buffer.from(key, 'base64');
  const actual = await deriveKey(password, Buffer.from(salt, 'base64'));
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}

function renderScrypt(salt: Uint8Array, key: Uint8Array): string {
  return `$scrypt$ln=${SCRYPT_LOG_N},r=${SCRYPT.r},p=${SCRYPT.p}$${base64(salt)}$${base64(key)}`;
}

function deriveKey(password: string, salt: Uint8Array): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password, salt, KEY_BYTES, SCRYPT, (error, key) => (error ? reject(error) : resolve(key)));
  });
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replaceAll('=', '');
}
