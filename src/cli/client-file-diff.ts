// The lines a file loses and gains, with nobody's secrets in them.

const HIDDEN = '…';
/** A value after a name that says it is a secret, or one that looks like an API key wherever it stands. */
const SECRET =
  /("?[\w-]*(?:key|token|secret|password|auth)[\w-]*"?\s*[:=]\s*)("(?:[^"\\]|\\.)*"|'[^']*'|[^\s,{[]+)|\b(?:svc_|sk-)[\w-]{8,}/gi;

/**
 * Each line behind `-` or `+`, from the first that differs to the last. Secrets are hidden unless they are in `known`,
 * which are the values that svc itself puts there.
 */
export function renderDiff(before: string, after: string, known: readonly string[]): string {
  const old = linesOf(before);
  const young = linesOf(after);
  const start = commonStart(old, young);
  const end = commonStart(old.slice(start).reverse(), young.slice(start).reverse());
  const lost = old.slice(start, old.length - end).map((line) => `-${line}`);
  const gained = young.slice(start, young.length - end).map((line) => `+${line}`);
  return [...lost, ...gained].map((line) => `${hideSecrets(line, known)}\n`).join('');
}

function hideSecrets(line: string, known: readonly string[]): string {
  return line.replace(SECRET, (whole: string, name: string | undefined, value: string | undefined) => {
    const bare = (value ?? whole).replaceAll(/^["']|["']$/g, '');
    if (bare === '' || known.includes(bare)) return whole;
    return name === undefined ? HIDDEN : `${name}"${HIDDEN}"`;
  });
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

function commonStart(a: readonly string[], b: readonly string[]): number {
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at += 1;
  return at;
}
