// What the two ways of sending an answer, whole and streamed, have in common.

import type { ServerResponse } from 'node:http';
import type { CompletionHead } from './completion-json.ts';
import type { SandboxAnswer } from './compose-answer.ts';
import type { SandboxControls } from './sandbox-faults.ts';
import type { SandboxUsage } from './sandbox-usage.ts';
import type { Pace } from './stream-pace.ts';

/** All that is needed to send one answer. */
export type Delivery = {
  readonly res: ServerResponse;
  /** Aborts once the caller has gone. */
  readonly gone: AbortSignal;
  readonly head: CompletionHead;
  readonly answer: SandboxAnswer;
  readonly usage: SandboxUsage;
  readonly pace: Pace;
  readonly controls: SandboxControls;
  readonly includeUsage: boolean;
};
