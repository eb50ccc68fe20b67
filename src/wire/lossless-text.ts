// The one change to a text that leaves its meaning alone: JSON without the white space between its marks. White space at
// the ends of lines is not touched: columns, patches, code and mail signatures mean something by it, and it costs next to
// nothing.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;

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
