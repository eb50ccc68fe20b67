// Email addresses: what is one, and that spellings of one address meet.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normaliseEmail } from '../../src/identity/email.ts';

describe('normaliseEmail', () => {
  it.each([
    ['ada@example.com', 'ada@example.com'],
    ['  Ada@Example.COM \n', 'ada@example.com'],
    ['ada+svc@example.co.uk', 'ada+svc@example.co.uk'],
    ["o'neil.x_y-z@sub.example.com", "o'neil.x_y-z@sub.example.com"],
    ['me@localhost', 'me@localhost'],
    ['a@b', 'a@b'],
    ['jürgen@bücher.example', 'jürgen@bücher.example'],
    ['ju\u0308rgen@example.com', 'jürgen@example.com'],
    ['a@xn--bcher-kva.example', 'a@xn--bcher-kva.example'],
    [`${'a'.repeat(64)}@example.com`, `${'a'.repeat(64)}@example.com`],
  ])('takes %j as %j', (text, expected) => {
    expect(normaliseEmail(text)).toBe(expected);
  });

  it.each([
    '',
    ' ',
    'ada',
    '@example.com',
    'ada@',
    'ada@@example.com',
    'ada@exa@mple.com',
    'ada@.example.com',
    'ada@example..com',
    'ada@example.com.',
    'ada@-example.com',
    'ada@example-.com',
    'ada lovelace@example.com',
    'ada\u0000@example.com',
    'ada\u200b@example.com',
    'ada\r\nBcc: x@example.com',
    '<ada@example.com>',
    'Ada <ada@example.com>',
    'a,b@example.com',
    '"a b"@example.com',
    'a@exam ple.com',
    'a@[127.0.0.1]',
    'a@exa_mple.com',
    `${'a'.repeat(65)}@example.com`,
    `a@${'b'.repeat(64)}.com`,
    `a@${'b.'.repeat(130)}com`,
    `a@${'b'.repeat(100_000)}`,
  ])('refuses %j', (text) => {
    expect(normaliseEmail(text)).toBeUndefined();
  });

  it('gives what it gives for its own result, in lower case', () => {
    fc.assert(
      fc.property(fc.emailAddress(), (address) => {
        const email = normaliseEmail(address);
        fc.pre(email !== undefined);
        expect(normaliseEmail(email ?? '')).toBe(email);
        expect(normaliseEmail(address.toUpperCase())).toBe(email);
      }),
    );
  });

  it('takes next to no time on long nonsense', () => {
    for (const evil of ['a'.repeat(100_000), `a@${'a-'.repeat(50_000)}`, '@'.repeat(100_000), ' '.repeat(100_000)]) {
      expect(normaliseEmail(evil)).toBeUndefined();
    }
  });
});
