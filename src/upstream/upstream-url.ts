// An upstream's base URL, checked once: where requests go and under which path, so that nothing later can change either.

type UpstreamAddress = {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Without a slash at the end; empty for none. */
  readonly basePath: string;
  /** For messages: host and port. */
  readonly host: string;
};

/**
 * Takes `https://…` anywhere and `http://…` on loopback only, where nobody can listen in on the credential.
 * Throws an `Error` whose message says what to change; it never repeats the URL, which may hold a password.
 */
export function parseUpstreamUrl(baseUrl: string): UpstreamAddress {
  if (!URL.canParse(baseUrl))
    throw new Error('The upstream URL is not a URL; give one like https://openrouter.ai/api/v1.');
  const url = new URL(baseUrl);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new Error('The upstream URL must begin with https:// (or http:// on this machine).');
  }
  if (url.username !== '' || url.password !== '') {
    throw new Error('The upstream URL must not hold a user name or password; set the API key by itself.');
  }
  // A "#" or "?" would swallow the path that each call adds.
  if (url.search !== '' || url.hash !== '' || /[?#]/.test(baseUrl)) {
    throw new Error('The upstream URL must end with its path, without "?" or "#".');
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw new Error(`The upstream at ${url.host} must be reached over https://; http:// is for this machine only.`);
  }
  return { origin: url.origin, basePath: url.pathname.replace(/\/+$/, ''), host: url.host };
}

function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127\.\d+\.\d+\.\d+$/.test(hostname)
  );
}
