// Reads the body of an inference request: JSON by its content type, bounded alone and together with all others.

import type { IncomingMessage } from 'node:http';
import { SvcError } from '../wire/svc-error.ts';
import { drainBody } from './drain-body.ts';

/** As large as the Messages API itself takes. */
const BODY_BYTES_MAX = 32 * 1024 * 1024;
/** All bodies being read or served at once; above it new ones wait for nobody and are refused. */
const BODIES_BYTES_MAX = 256 * 1024 * 1024;

export interface BodyReader {
  read(req: IncomingMessage): Promise<Buffer>;
}

export function createBodyReader(): BodyReader {
  let inFlightBytes = 0;
  return {
    async read(req) {
      checkHead(req);
      const declared = Number(req.headers['content-length'] ?? 0);
      if (declared > BODY_BYTES_MAX) throw await tooLarge(req);
      if (inFlightBytes + declared > BODIES_BYTES_MAX) {
        throw new SvcError('OVERLOADED', 'Too many large requests at once: try again in a moment.', {
          retryAfterSeconds: 1,
        });
      }
      let counted = 0;
      const count = (bytes: number): void => {
        counted += bytes;
        inFlightBytes += bytes;
      };
      try {
        return await collect(req, count);
      } finally {
        inFlightBytes -= counted;
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

function collect(req: IncomingMessage, count: (bytes: number) => void): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      count(chunk.length);
      if (size <= BODY_BYTES_MAX) {
        chunks.push(chunk);
        return;
      }
      req.off('data', onData);
      tooLarge(req).then(reject, reject);
    };
    req.on('data', onData);
    req.once('end', () => {
      if (size > BODY_BYTES_MAX) return;
      const [first] = chunks;
      resolve(chunks.length === 1 && first ? first : Buffer.concat(chunks));
    });
    req.once('error', reject);
    req.once('close', () => {
      if (!req.complete)
        reject(new SvcError('INVALID_REQUEST', 'The connection closed before the whole body had come.'));
    });
  });
}

async function tooLarge(req: IncomingMessage): Promise<SvcError> {
  await drainBody(req);
  return new SvcError(
    'REQUEST_TOO_LARGE',
    `The body is over ${BODY_BYTES_MAX} bytes (32 MiB): send less, or images by URL.`,
  );
}
