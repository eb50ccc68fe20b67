// Content blocks of a Messages stream: one open at a time, without gaps, however the pieces of an answer come mixed.

import { renderSseEvent } from './sse-writer.ts';

/** Bytes of pieces that wait for the block before them to end; a whole answer is far smaller. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;

/** What a waiting block costs beside its text, so that a myriad of tiny ones is bounded too. */
const WAITING_BLOCK_BYTES = 256;

/** One block to be: `start` is its `content_block`, undefined until it can be said; `isComplete` whether it may be closed. */
export interface StreamBlock {
  readonly kind: 'text' | 'thinking' | 'redacted' | 'tool';
  start(): Record<string, unknown> | undefined;
  isComplete(): boolean;
  /** A last delta before the block closes, where there is one. */
  closingDelta(): Record<string, unknown> | undefined;
}

export interface BlockQueue {
  /** Adds a block after all others; the one before it is closed as soon as it is complete. `byteLength`: of its start. */
  open(block: StreamBlock, byteLength?: number): void;
  /**
   * A piece of a block: goes out at once where its block is the open one, else waits and is joined with those that wait
   * before it. False where the block is closed already. Throws RangeError once too much waits.
   */
  add(block: StreamBlock, delta: Delta): boolean;
  /** To be called when a block's `start` has become known. */
  refresh(): void;
  /** The newest block, still open or waiting. */
  last(): StreamBlock | undefined;
  /** Closes everything, in order. Blocks that could never start are left out and counted in the answer. */
  finish(): number;
  /** Takes the events made so far. */
  take(): string;
}

/** `text` goes out under `key`, as in `{type: 'text_delta', text}`. All pieces of a block have the same type. */
export type Delta = { readonly type: string; readonly key: string; readonly text: string; readonly byteLength: number };

type Entry = { type: string; key: string; waiting: string; waitingBytes: number };

export function createBlockQueue(): BlockQueue {
  // In order of arrival: the first one is the head, the only one that can be open.
  const entries = new Map<StreamBlock, Entry>();
  let head: StreamBlock | undefined;
  let newest: StreamBlock | undefined;
  let output = '';
  let index = 0;
  let isHeadOpen = false;
  let waitingBytes = 0;

  function emit(type: string, payload: Record<string, unknown>): void {
    output += renderSseEvent(type, { type, index, ...payload });
  }

  function wait(entry: Entry, byteLength: number): void {
    entry.waitingBytes += byteLength;
    waitingBytes += byteLength;
    if (waitingBytes > MAX_WAITING_BYTES) throw new RangeError('too much of the answer is waiting');
  }

  function openHead(): void {
    const start = isHeadOpen ? undefined : head?.start();
    const entry = head === undefined ? undefined : entries.get(head);
    if (entry === undefined || start === undefined) return;
    isHeadOpen = true;
    emit('content_block_start', { content_block: start });
    if (entry.waiting !== '') emitDelta(entry.type, entry.key, entry.waiting);
    entry.waiting = '';
    waitingBytes -= entry.waitingBytes;
    entry.waitingBytes = 0;
  }

  function emitDelta(type: string, key: string, text: string): void {
    emit('content_block_delta', { delta: { type, [key]: text } });
  }

  function closeHead(): void {
    const closing = head?.closingDelta();
    if (closing !== undefined) emit('content_block_delta', { delta: closing });
    emit('content_block_stop', {});
    index += 1;
    dropHead();
  }

  function dropHead(): void {
    if (head !== undefined) entries.delete(head);
    isHeadOpen = false;
    head = entries.keys().next().value;
    if (head === undefined) newest = undefined;
  }

  function advance(): void {
    openHead();
    while (entries.size > 1 && isHeadOpen && head?.isComplete()) {
      closeHead();
      openHead();
    }
  }

  return {
    open(block, byteLength = 0) {
      const entry = { type: '', key: '', waiting: '', waitingBytes: 0 };
      entries.set(block, entry);
      head ??= block;
      newest = block;
      wait(entry, byteLength + WAITING_BLOCK_BYTES);
      advance();
    },
    add(block, { type, key, text, byteLength }) {
      const entry = entries.get(block);
      if (entry === undefined) return false;
      if (isHeadOpen && block === head) {
        emitDelta(type, key, text);
        return true;
      }
      wait(entry, byteLength);
      entry.type = type;
      entry.key = key;
      entry.waiting += text;
      return true;
    },
    refresh: advance,
    last: () => newest,
    finish() {
      let dropped = 0;
      while (head !== undefined) {
        openHead();
        if (isHeadOpen) closeHead();
        else {
          dropHead();
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
