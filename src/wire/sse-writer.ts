// Server-sent events as text: one `data:` line each, LF line ends, a blank line after.

/** `json` is one line: JSON text has no raw line breaks when made by JSON.stringify. */
export function renderSseData(json: string): string {
  return `data: ${json}\n\n`;
}

/** An event whose name is its payload's `type`, as Messages clients need it. */
export function renderSseEvent(type: string, payload: Readonly<Record<string, unknown>>): string {
  return `event: ${type}\ndata: ${JSON.stringify(payload)}\n\n`;
}

/** A comment: keeps a silent connection open and means nothing. */
export function renderSseComment(text: string): string {
  return `: ${text}\n\n`;
}
