// Content blocks of a Messages stream: one open at a time, without gaps, however the pieces of an answer come mixed.

import { renderSseEvent } from './sse-writer.ts';

/** Bytes of pieces that wait for the block before them to end; a whole answer is far smaller. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;

/** One block to be: `start` is its `content_block`, undefined until it can be said; `isComplete` whether it may be closed. */
export interface StreamBlock {
  readonly kind: 'text' | 'thinking' | 'redacted' | 'tool';
  start(): Record<string, unknown> | undefined;
  isComplete(): boolean;
  /** A last delta before the block closes, where there is one. */
  closingDelta(): Record<string, unknown> | undefined;
}

export interface BlockQueue {
  /** Adds a block after all others; the one before it is closed as soon as it is complete. */
  open(block: StreamBlock): void;
  /** A piece of a block: goes out at once where its block is the open one, else waits. False where it is closed already. */
  add(block: StreamBlock, delta: Record<string, unknown>, byteLength: number): boolean;
  /** To be called when a block's `start` has become known. */
  refresh(): void;
  /** The newest block, still open or waiting. */
  last(): StreamBlock | undefined;
  /** Closes everything, in order. Blocks that could never start are left out and counted in the answer. */
  finish(): number;
  /** Takes the events made so far. Throws RangeError once too much waits. */
  take(): string;
}

type Entry = { readonly block: StreamBlock; readonly waiting: Record<string, unknown>[] };

export function createBlockQueue(): BlockQueue {
  const entries: Entry[] = [];
  let output = '';
  let index = 0;
  let isHeadOpen = false;
  let waitingBytes = 0;

  function emit(type: string, payload: Record<string, unknown>): void {
    output += renderSseEvent(type, { type, index, ...payload });
  }

  function openHead(): void {
    const head = entries[0];
    const start = isHeadOpen ? undefined : head?.block.start();
    if (head === undefined || start === undefined) return;
    isHeadOpen = true;
    emit('content_block_start', { content_block: start });
    for (const delta of head.waiting) emit('content_block_delta', { delta });
    head.waiting.length = 0;
  }

  function closeHead(): void {
    const closing = entries.shift()?.block.closingDelta();
    if (closing !== undefined) emit('content_block_delta', { delta: closing });
    emit('content_block_stop', {});
    isHeadOpen = false;
    index += 1;
  }

  function advance(): void {
    openHead();
    while (entries.length > 1 && isHeadOpen && entries[0]?.block.isComplete()) {
      closeHead();
      openHead();
    }
  }

  return {
    open(block) {
      entries.push({ block, waiting: [] });
      advance();
    },
    add(block, delta, byteLength) {
      const entry = entries.find((candidate) => candidate.block === block);
      if (entry === undefined) return false;
      if (isHeadOpen && entry === entries[0]) emit('content_block_delta', { delta });
      else {
        waitingBytes += byteLength;
        if (waitingBytes > MAX_WAITING_BYTES) throw new RangeError('too much of the answer is waiting');
        entry.waiting.push(delta);
      }
      return true;
    },
    refresh: advance,
    last: () => entries.at(-1)?.block,
    finish() {
      let dropped = 0;
      while (entries.length > 0) {
        openHead();
        if (isHeadOpen) closeHead();
        else {
          entries.shift();
          dropped += 1;
        }
      }
      return dropped;
    },
    take() {
      const taken = output;
      output = '';
      return taken;
    },
  };
}
