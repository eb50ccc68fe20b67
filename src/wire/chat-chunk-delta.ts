// What is new in a choice of a stream chunk, also where the upstream puts it under another name; and chunks without news.

import { isObject, type JsonObject } from './field-checks.ts';

/** One for each choice. Undefined where a chunk brings nothing. */
export type DeltaReader = (choice: JsonObject) => JsonObject | undefined;

/**
 * Some upstreams send `message` in place of `delta`. After a delta a message repeats the whole answer, as others do at
 * the end, and is not read.
 */
export function createDeltaReader(): DeltaReader {
  let sawDelta = false;
  return (choice) => {
    const { delta, message } = choice;
    if (isObject(delta)) {
      sawDelta = true;
      return delta;
    }
    return isObject(message) && !sawDelta ? message : undefined;
  };
}

/** A sign of life that is no part of the answer, in the manner of the Messages API. */
export function isPing(chunk: JsonObject, event: string): boolean {
  return chunk['choices'] === undefined && (event === 'ping' || chunk['type'] === 'ping');
}
