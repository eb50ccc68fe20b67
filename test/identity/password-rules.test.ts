// Rules for new passwords.

import { describe, expect, it } from 'vitest';
import { passwordProblem } from '../../src/identity/password-rules.ts';

describe('passwordProblem', () => {
  it.each([
    ['eight letters', 'abcdefgh'],
    ['eight spaces', ' '.repeat(8)],
    ['eight emoji', '🔑'.repeat(8)],
    ['the longest', 'x'.repeat(1024)],
    ['words', 'correct horse battery staple'],
    ['other scripts', 'пароль-пароль'],
  ])('finds nothing wrong with %s', (_name, password) => {
    expect(passwordProblem(password)).toBeUndefined();
  });

  it.each([
    ['nothing', '', /shorter than 8/],
    ['seven letters', 'abcdefg', /shorter than 8/],
    ['seven emoji, though they are 14 units', '🔑'.repeat(7), /shorter than 8/],
    ['one too many', 'x'.repeat(1025), /longer than 1024/],
  ])('refuses %s', (_name, password, message) => {
    expect(passwordProblem(password)).toMatch(message);
  });

  it('never repeats the password', () => {
    expect(passwordProblem('s3cr3t!')).not.toContain('s3cr3t!');
  });
});
