// Takes out of a text what looks like a credential, before the text goes to a client.

const REDACTED = '[redacted]';
/** Credentials by their shape: the scheme before them, or the prefixes that providers and svc give their keys. */
const BY_SHAPE = /\bBearer\s+[^\s"',;]+|\b(?:sk-|svc_)[\w*.-]{4,}/gi;
/** Long words a few short words after "key" or "token": `Incorrect API key provided: …`. */
const BY_PLACE = /((?:key|token)s?["'\s:=]{1,4}(?:\w{1,16}["'\s:=]{1,4}){0,3}?)[\w*.+/=-]{20,}/gi;

/** `secrets` are exact strings that must not stay, whatever they look like. */
export function redact(text: string, secrets: readonly string[] = []): string {
  let clean = text;
  for (const secret of secrets) if (secret !== '') clean = clean.replaceAll(secret, REDACTED);
  return clean.replace(BY_SHAPE, REDACTED).replace(BY_PLACE, `$1${REDACTED}`);
}
