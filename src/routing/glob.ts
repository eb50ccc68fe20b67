// Model name patterns with `*` for any run of characters, matched in one pass without regular expressions.

/** A pattern taken apart: text between the stars. One piece means no star. */
export type Glob = readonly string[];

export function parseGlob(pattern: string): Glob {
  return pattern.split('*');
}

/** Every piece is searched once, from where the last one ended: linear in the length of `text` for each piece. */
export function matchesGlob(text: string, glob: Glob): boolean {
  const [first = ''] = glob;
  if (glob.length === 1) return text === first;
  const last = glob[glob.length - 1] ?? '';
  const end = text.length - last.length;
  if (end < first.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  let from = first.length;
  for (let index = 1; index < glob.length - 1; index += 1) {
    const piece = glob[index] ?? '';
    const at = text.indexOf(piece, from);
    if (at < 0) return false;
    from = at + piece.length;
    if (from > end) return false;
  }
  return true;
}
