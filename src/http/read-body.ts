// Reads the body of an inference request: JSON by its content type, bounded alone and together with all others.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { SvcError } from '../wire/svc-error.ts';

const MIB = 1024 * 1024;
/** One body as large as the Messages API itself takes; above the bound on all together new ones are refused. */
const LIMITS: BodyLimits = { bodyBytesMax: 32 * MIB, bodiesBytesMax: 256 * MIB };

export type BodyLimits = {
  readonly bodyBytesMax: number;
  /** All bodies being read or served at once. */
  readonly bodiesBytesMax: number;
};

export interface BodyReader {
  /** Throws 415, 413, `OVERLOADED`, and 400 where the client leaves amid its body. `res` is the answer to `req`. */
  read(req: IncomingMessage, res: ServerResponse): Promise<Buffer>;
}

export function createBodyReader(limits: BodyLimits = LIMITS): BodyReader {
  let heldBytes = 0;
  return {
    async read(req, res) {
      checkHead(req);
      const declaredBytes = Number(req.headers['content-length'] ?? 0);
      if (declaredBytes > limits.bodyBytesMax) throw tooLarge(limits);
      let ownBytes = 0;
      const hold = (bytes: number): void => {
        if (heldBytes + bytes > limits.bodiesBytesMax) throw overloaded();
        ownBytes += bytes;
        heldBytes += bytes;
      };
      const release = (): void => {
        heldBytes -= ownBytes;
        ownBytes = 0;
      };
      hold(declaredBytes);
      // The body stays in memory while it is served, for upstream attempts to come.
      res.once('close', release);
      try {
        return await collect(req, limits, (size, bytes) => {
          if (size > declaredBytes) hold(bytes);
        });
      } catch (error) {
        release();
        throw error;
      }
    },
  };
}

function checkHead(req: IncomingMessage): void {
  const encoding = req.headers['content-encoding'];
  if (encoding && encoding !== 'identity') {
    throw new SvcError(
      'UNSUPPORTED_MEDIA_TYPE',
      `Content-Encoding ${encoding.slice(0, 40)} is not taken: send the body as it is.`,
    );
  }
  const type = req.headers['content-type'];
  if (!/^application\/json\s*(;|$)/i.test(type ?? '')) {
    const given = type === undefined ? 'none was sent' : `not ${type.slice(0, 100)}`;
    throw new SvcError('UNSUPPORTED_MEDIA_TYPE', `Content-Type must be application/json, ${given}.`);
  }
}

/** `count` gets the size so far and what came last; what it throws refuses the body. */
function collect(
  req: IncomingMessage,
  limits: BodyLimits,
  count: (size: number, bytes: number) => void,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      try {
        if (size > limits.bodyBytesMax) throw tooLarge(limits);
        count(size, chunk.length);
        chunks.push(chunk);
      } catch (error) {
        req.off('data', onData);
        chunks.length = 0;
        reject(error);
      }
    };
    req.on('data', onData);
    req.once('end', () => {
      const [first] = chunks;
      resolve(chunks.length === 1 && first ? first : Buffer.concat(chunks));
    });
    req.once('error', (cause) => reject(cutShort(cause)));
    req.once('close', () => {
      if (!req.complete) reject(cutShort());
    });
  });
}

function cutShort(cause?: unknown): SvcError {
  return new SvcError('INVALID_REQUEST', 'The connection closed before the whole body had come.', { cause });
}

function overloaded(): SvcError {
  return new SvcError('OVERLOADED', 'Too many large requests at once: try again in a moment.', {
    retryAfterSeconds: 1,
  });
}

function tooLarge({ bodyBytesMax }: BodyLimits): SvcError {
  return new SvcError(
    'REQUEST_TOO_LARGE',
    `The body is over ${bodyBytesMax} bytes (${bodyBytesMax / MIB} MiB): send less, or images by URL.`,
  );
}
