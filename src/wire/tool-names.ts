// Tool names a Chat upstream takes, and the way back to the names the caller gave.

import { sha256Hex } from './sha256.ts';

export interface ToolNameMap {
  /** The caller's name as the upstream gets it. */
  toUpstream(name: string): string;
  /** The upstream's name as the caller knows it; a name that was never mapped stays. */
  toCaller(name: string): string;
}

/** What every Chat upstream accepts as a function name. */
const ACCEPTED_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const KEPT_LENGTH = 55;
const HASH_LENGTH = 8;

/** `names` are all names of the request: tools, tool choice and history. The mapping depends on each name alone. */
export function createToolNameMap(names: Iterable<string>): ToolNameMap {
  const callerNames = new Map<string, string>();
  for (const name of names) {
    const mapped = toAcceptedName(name);
    if (mapped !== name) callerNames.set(mapped, name);
  }
  return {
    toUpstream: toAcceptedName,
    toCaller: (name) => callerNames.get(name) ?? name,
  };
}

function toAcceptedName(name: string): string {
  if (ACCEPTED_NAME.test(name)) return name;
  const readable = name.slice(0, KEPT_LENGTH).replaceAll(/[^a-zA-Z0-9_-]/g, '_');
  return `${readable}_${sha256Hex(name).slice(0, HASH_LENGTH)}`;
}
