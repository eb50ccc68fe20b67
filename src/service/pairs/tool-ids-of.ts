// Ids of tool calls in a conversation's history: a new call must not take one of them again.

import type { NeutralRequest } from '../../wire/neutral.ts';

export function toolIdsOf(request: NeutralRequest): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const message of request.messages) {
    if (message.role !== 'assistant') continue;
    for (const part of message.content) if (part.type === 'tool_call') ids.add(part.id);
  }
  return ids;
}
