// Fuzzing what reads a client's request: no error but those of the table, and edits that leave JSON as it was.

import { expect, it } from 'vitest';
import { parseJsonBody, spliceFields } from '../../src/wire/json-scan.ts';
import { parseChatRequest } from '../../src/wire/parse-chat-request.ts';
import { parseMessagesRequest } from '../../src/wire/parse-messages-request.ts';
import { isSvcError } from '../../src/wire/svc-error.ts';
import { anyRequestBytes } from './fuzz-inputs.ts';
import { fuzz } from './fuzz-run.ts';

it('a body is read, or refused with one of our errors', () => {
  fuzz('json-scan', 0.1, anyRequestBytes, (bytes) => {
    const body = answerOf(() => parseJsonBody(bytes));
    if (body === undefined) return;
    expect(body.value).toEqual(JSON.parse(bytes.toString()));
    const edited = spliceFields(body, { model: '"m"' }, ['svc', 'messages']);
    const { messages: _messages, svc: _svc, ...rest } = body.value;
    expect(JSON.parse(Buffer.from(edited).toString())).toEqual({ ...rest, model: 'm' });
  });
});

for (const [name, parse] of [
  ['parseChatRequest', parseChatRequest],
  ['parseMessagesRequest', parseMessagesRequest],
] as const) {
  it(`${name} takes it or says what is wrong, and leaves prototypes alone`, () => {
    fuzz(name, 0.1, anyRequestBytes, (bytes) => {
      const body = answerOf(() => parseJsonBody(bytes));
      if (body === undefined) return;
      const request = answerOf(() => parse(body.value));
      if (request === undefined) return;
      expect(Object.getPrototypeOf(request)).toBe(Object.prototype);
      expect(JSON.stringify(request).length).toBeLessThan(bytes.length * 8 + 1000);
    });
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
}

/** Undefined for an error of the table; any other is thrown on. */
function answerOf<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch (error) {
    if (isSvcError(error) && error.status < 500) return undefined;
    throw error;
  }
}
