// The first start on an empty data directory: a workspace with starting credits, one API key, and lines to paste.

import { parseUsd } from '../ledger/nano.ts';
import type { ControlServices } from '../service/control-services.ts';
import type { Store } from '../store/store.ts';

export type FirstRun = {
  readonly store: Store;
  readonly control: ControlServices;
  readonly startingCredits: string;
  makeId(prefix: string): string;
  nowMs(): number;
};

/** Makes the `default` workspace, which the first account to register will own; resolves with the key's secret. */
export async function createDefaultWorkspace(run: FirstRun): Promise<string> {
  const [started] = run.store.documents.workspaces();
  const workspaceId = started?.id ?? (await makeWorkspace(run));
  const amountNano = parseUsd(run.startingCredits) ?? 0;
  if (amountNano > 0) {
    // Named after the workspace: made once, however often a first start was cut off.
    await run.store.ledger.grant({
      type: 'grant',
      at: run.nowMs(),
      id: workspaceId.replace('ws_', 'gr_'),
      workspaceId,
      amountNano,
      note: 'starting credits',
    });
  }
  return run.control.apiKeys.firstKey(workspaceId);
}

async function makeWorkspace(run: FirstRun): Promise<string> {
  const workspace = {
    id: run.makeId('ws'),
    name: 'default',
    createdAt: run.nowMs(),
    members: [],
    requestsPerMinute: null,
    tokensPerMinute: null,
  };
  await run.store.documents.putWorkspace(workspace);
  return workspace.id;
}

/** What is printed once: the secret, and commands for both formats that work when pasted. */
export function welcomeText(url: string, key: string, startingCredits: string, sandbox: boolean): string {
  return `
svc is ready. This is the first start, so a workspace "default" was made, with $${startingCredits} of credits and one API key.
The key is shown this once:

    ${key}

Chat Completions format:

    curl ${url}/v1/chat/completions \\
      -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" \\
      -d '{"model":"svc:auto","messages":[{"role":"user","content":"Hello"}]}'

Messages format:

    curl ${url}/v1/messages \\
      -H "x-api-key: ${key}" -H "Content-Type: application/json" \\
      -d '{"model":"svc:auto","max_tokens":256,"messages":[{"role":"user","content":"Hello"}]}'

SDKs and tools:

    export OPENAI_BASE_URL=${url}/v1 OPENAI_API_KEY=${key}
    export ANTHROPIC_BASE_URL=${url} ANTHROPIC_API_KEY=${key}
    export SVC_API_KEY=${key}

For usage, keys and credits, make the operator account (the password comes from standard input):

    svc login --email you@example.com --password-stdin --register
${sandbox ? '\nAnswers come from the built-in sandbox. For real models set SVC_UPSTREAM_URL and SVC_UPSTREAM_API_KEY and start again.\n' : ''}
`;
}
