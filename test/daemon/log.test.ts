// The structured log: one JSON line each, and no secret in any of them.

import { describe, expect, it } from 'vitest';
import { createLog } from '../../src/daemon/log.ts';

const SECRET = `svc_sk_${'a'.repeat(49)}`;

function logged(level: string, fields: Record<string, unknown>, message = 'said'): string {
  const lines: string[] = [];
  createLog(level, { write: (line) => lines.push(line) }).info(fields, message);
  return lines.join('');
}

describe('the log', () => {
  it('is one JSON line with level, time and message', () => {
    expect(JSON.parse(logged('info', { status: 200 }))).toMatchObject({
      level: 'info',
      time: expect.any(String),
      status: 200,
      msg: 'said',
    });
  });

  it('says nothing below its level', () => {
    expect(logged('warn', { status: 200 })).toBe('');
  });

  it.each([
    ['by the name of a field', { authorization: 'Bearer x1y2', password: 'x1y2', token: 'x1y2' }],
    ['one level down', { headers: { 'x-api-key': 'x1y2', cookie: 'x1y2' } }],
    ['inside a text', { note: `the key ${SECRET.replace('aaaa', 'x1y2')} was sent` }],
    ['of an upstream', { note: 'refused sk-or-v1-x1y2x1y2x1y2' }],
    ['after its scheme', { note: 'sent Authorization: Bearer x1y2.x1y2x1y2' }],
    [
      'inside an error',
      {
        error: new Error(`refused ${SECRET.replace('aaaa', 'x1y2')}`, {
          cause: new Error(SECRET.replace('aaaa', 'x1y2')),
        }),
      },
    ],
  ])('hides a secret %s', (_name, fields) => {
    const line = logged('info', fields);
    expect(line).toContain('[redacted]');
    expect(line).not.toContain('x1y2');
  });

  it('hides a secret in the message', () => {
    expect(logged('info', {}, `made ${SECRET}`)).not.toContain(SECRET);
  });

  it('leaves the fields of the caller as they were', () => {
    const fields = { token: 'x1y2' };
    logged('info', fields);
    expect(fields).toEqual({ token: 'x1y2' });
  });
});
