// Tool call ids a Messages caller can live with: never empty, never used before, only letters, digits, `_` and `-`.

import { sha256Hex } from './sha256.ts';

const ACCEPTED_ID = /^[a-zA-Z0-9_-]+$/;
const KEPT_LENGTH = 40;
const HASH_LENGTH = 8;

/** The same id cleaned, the same way each time; `''` stays. Two ids that clean alike still differ by their hash. */
export function toAcceptedToolId(id: string): string {
  if (id === '' || ACCEPTED_ID.test(id)) return id;
  const readable = id.slice(0, KEPT_LENGTH).replaceAll(/[^a-zA-Z0-9_-]/g, '_');
  return `${readable}_${sha256Hex(id).slice(0, HASH_LENGTH)}`;
}

/**
 * Gives out ids for one answer. An id the conversation has used already is replaced: clients take a repeated id for
 * the old call and drop the new one.
 */
export function createToolIdChooser(usedIds: ReadonlySet<string>, newToolId: () => string): (id: string) => string {
  const given = new Set<string>();
  return (id) => {
    const accepted = toAcceptedToolId(id);
    const isFree = accepted !== '' && !usedIds.has(accepted) && !given.has(accepted);
    const chosen = isFree ? accepted : newToolId();
    given.add(chosen);
    return chosen;
  };
}
