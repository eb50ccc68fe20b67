// JSON in small pieces, so that a big value can be written without keeping everything else waiting.

/** Below this depth a value is rendered at once: states keep what there is many of above it. */
const DEPTH_MAX = 5;

/** The pieces, joined, are what `JSON.stringify` gives. `value` must not change meanwhile. */
export function* jsonPieces(value: unknown, depth = 0): Generator<string> {
  if (typeof value !== 'object' || value === null || depth === DEPTH_MAX) {
    yield JSON.stringify(value) ?? 'null';
    return;
  }
  const isArray = Array.isArray(value);
  let before = isArray ? '[' : '{';
  for (const [name, item] of isArray ? value.entries() : Object.entries(value)) {
    if (!isArray && item === undefined) continue;
    yield isArray ? before : `${before}${JSON.stringify(name)}:`;
    yield* jsonPieces(item, depth + 1);
    before = ',';
  }
  const opened = before === ',';
  yield `${opened ? '' : before}${isArray ? ']' : '}'}`;
}
