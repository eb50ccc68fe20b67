// `data:` URLs, split by searching for their marks: they can be many megabytes, too long for a regular expression.

export type DataUrl = { readonly mediaType: string; readonly data: string };

/** Undefined unless it is a base64 `data:` URL; any parameters between media type and `;base64` are skipped. */
export function parseDataUrl(url: string): DataUrl | undefined {
  if (url.slice(0, 5).toLowerCase() !== 'data:') return undefined;
  const comma = url.indexOf(',');
  if (comma === -1) return undefined;
  const [mediaType = '', ...parameters] = url.slice(5, comma).split(';');
  if (parameters.at(-1)?.trim().toLowerCase() !== 'base64') return undefined;
  return { mediaType: mediaType.trim(), data: url.slice(comma + 1) };
}

export function renderDataUrl(mediaType: string, data: string): string {
  return `data:${mediaType};base64,${data}`;
}
