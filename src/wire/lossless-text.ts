// The two changes to a text that leave its meaning alone: JSON without the white space between its marks, and lines
// without white space at their ends.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const TAB = 0x09;
const CARRIAGE_RETURN = 0x0d;

/** A JSON object or array without insignificant white space; numbers, escapes, key order and duplicate keys as they were. */
export function minifyJsonText(text: string): string {
  return isJsonStructure(text) ? dropJsonSpace(text) : text;
}

/** `json` is valid JSON. */
export function dropJsonSpace(json: string): string {
  let kept = '';
  let from = 0;
  let at = 0;
  while (at < json.length) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(json, at);
    } else if (code > SPACE) {
      at += 1;
    } else {
      kept += json.slice(from, at);
      while (at < json.length && json.charCodeAt(at) <= SPACE) at += 1;
      from = at;
    }
  }
  return from === 0 ? json : kept + json.slice(from);
}

/**
 * Patches, and texts shown as they stand, mean something by the white space at a line's end. A carriage return by itself
 * ends lines in a way of its own.
 */
const VERBATIM = /^(?:diff --git |@@ -)|<(?:pre|textarea)\b|\r(?!\n)/m;
const FENCE = /^([\s>*+\-\d.)]*)(`{3,}|~{3,})(.*)$/;

/**
 * Takes white space off the ends of lines. Left alone: code between fences and by indentation, patches, `<pre>`, and the
 * end of the text, which may go on in the next part. Two spaces or more before a line end are a Markdown line break:
 * two of them stay.
 */
export function trimLineEnds(text: string): string {
  if (!hasSpaceBeforeLineEnd(text) || VERBATIM.test(text)) return text;
  let kept = '';
  let fence: Fence | undefined;
  let start = 0;
  while (start < text.length) {
    const feed = text.indexOf('\n', start);
    if (feed === -1) return kept + text.slice(start);
    const end = text.charCodeAt(feed - 1) === CARRIAGE_RETURN && feed > start ? feed - 1 : feed;
    const line = text.slice(start, end);
    const next = nextFence(fence, line);
    const isCode = fence !== undefined || next !== undefined || isIndentedCode(line);
    kept += (isCode ? line : trimLine(line)) + text.slice(end, feed + 1);
    fence = next;
    start = feed + 1;
  }
  return kept;
}

type Fence = { readonly mark: string; readonly indent: number };

/** The fence that is open after `line`. */
function nextFence(open: Fence | undefined, line: string): Fence | undefined {
  if (!line.includes('```') && !line.includes('~~~')) return open;
  const [, prefix = '', mark = '', rest = ''] = FENCE.exec(line) ?? [];
  if (mark === '') return open;
  if (open === undefined) return mark[0] === '`' && rest.includes('`') ? undefined : { mark, indent: prefix.length };
  // Further in, it is a line of the code.
  const closes = mark.startsWith(open.mark) && rest.trim() === '' && prefix.length <= open.indent + 3;
  return closes ? undefined : open;
}

function isIndentedCode(line: string): boolean {
  return line.startsWith('    ') || /^ {0,3}\t/.test(line);
}

function trimLine(line: string): string {
  let end = line.length;
  while (end > 0 && isBlank(line.charCodeAt(end - 1))) end -= 1;
  if (end === line.length) return line;
  return end > 0 && line.endsWith('  ') ? `${line.slice(0, end)}  ` : line.slice(0, end);
}

function hasSpaceBeforeLineEnd(text: string): boolean {
  for (let feed = text.indexOf('\n'); feed !== -1; feed = text.indexOf('\n', feed + 1)) {
    const before = text.charCodeAt(feed - 1) === CARRIAGE_RETURN ? feed - 2 : feed - 1;
    if (before >= 0 && isBlank(text.charCodeAt(before))) return true;
  }
  return false;
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}

function isJsonStructure(text: string): boolean {
  if (!/^[\t\n\r ]*[[{]/.test(text) || !hasJsonSpace(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    // Text that only looks like JSON stays as it is.
    return false;
  }
}

function hasJsonSpace(text: string): boolean {
  return text.includes(' ') || text.includes('\n') || text.includes('\t') || text.includes('\r');
}

function endOfString(json: string, open: number): number {
  let quote = json.indexOf('"', open + 1);
  while (quote !== -1) {
    let slash = quote;
    while (json.charCodeAt(slash - 1) === BACKSLASH) slash -= 1;
    if ((quote - slash) % 2 === 0) return quote + 1;
    quote = json.indexOf('"', quote + 1);
  }
  return json.length;
}
