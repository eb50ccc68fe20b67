// The headers of a call in the Messages dialect.

/** What is said where the caller named no version: the first stable one, which every upstream takes. */
const VERSION = '2023-06-01';

/** The caller's own `anthropic-version` and `anthropic-beta`, whatever they say: only the upstream can judge them. */
export function messagesHeaders(callerHeaders: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const beta = callerHeaders['anthropic-beta'];
  return {
    'anthropic-version': callerHeaders['anthropic-version'] ?? VERSION,
    ...(beta === undefined ? {} : { 'anthropic-beta': beta }),
  };
}
