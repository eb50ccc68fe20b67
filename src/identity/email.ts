// Email addresses: one spelling for each, so that nobody registers twice.

/** RFC 5321: a path holds 256 octets with its angle brackets, the local part 64. */
const EMAIL_LENGTH_MAX = 254;
const LOCAL_LENGTH_MAX = 64;
const LABEL_LENGTH_MAX = 63;

/** Spaces, controls and what only a quoted local part or a header may hold. */
const FORBIDDEN = /[\s\p{C}<>()[\]\\,;:"]/u;
const LABEL = /^[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}-]*[\p{L}\p{N}\p{M}])?$/u;

/** The address trimmed, composed (NFC) and in lower case; undefined when it is none. `me@localhost` is one. */
export function normaliseEmail(text: string): string | undefined {
  if (text.length > 2 * EMAIL_LENGTH_MAX) return undefined;
  const email = text.trim().normalize('NFC').toLowerCase();
  if (email.length > EMAIL_LENGTH_MAX || FORBIDDEN.test(email)) return undefined;
  const at = email.indexOf('@');
  if (at < 1 || at > LOCAL_LENGTH_MAX || email.includes('@', at + 1)) return undefined;
  return isDomain(email.slice(at + 1)) ? email : undefined;
}

function isDomain(domain: string): boolean {
  return domain.split('.').every((label) => label.length <= LABEL_LENGTH_MAX && LABEL.test(label));
}
