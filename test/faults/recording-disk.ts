// The real disk with a log of everything done to it, from which what a power cut may leave can be made.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Disk, type DiskFile, realDisk } from '../../src/store/disk.ts';
import type { Claim } from './invariants.ts';

/**
 * Changes are logged when they begin, since from then on they may be on disk, and syncs when they end, with the place in the
 * log (`covers`) where they began: what came later may not be covered. `inode` numbers files, whatever their names.
 */
export type DiskEvent =
  | { kind: 'write'; inode: number; bytes: Buffer; position: number; undone?: true }
  | { kind: 'truncate'; inode: number; length: number; undone?: true }
  | { kind: 'datasync'; inode: number; covers: number }
  | { kind: 'names'; directory: string; names: readonly NameChange[]; undone?: true }
  | { kind: 'syncDirectory'; directory: string; covers: number }
  | { kind: 'asked'; claim: Claim }
  | { kind: 'acknowledged'; claim: Claim };

export type NameChange = { readonly name: string; readonly inode: number | null };

/** What a disk pretends to do. */
export type Lie = 'datasync' | 'syncDirectory' | null;

/** The content of this file is random and means nothing; only its size is followed. */
const OPAQUE_NAME = 'reserve.bin';

export class RecordingDisk implements Disk {
  readonly events: DiskEvent[] = [];
  /** What was there, durable, before the first event. */
  readonly initial: { readonly path: string; readonly inode: number; readonly bytes: Buffer }[] = [];
  readonly root: string;
  readonly #inner: Disk;
  readonly #lie: Lie;
  readonly #names = new Map<string, number>();
  #inodes = 0;

  constructor(root: string, inner: Disk = realDisk, lie: Lie = null) {
    this.root = root;
    this.#inner = inner;
    this.#lie = lie;
    for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      this.initial.push({ path, inode: this.#bind(path), bytes: readFileSync(path) });
    }
  }

  asked(claim: Claim): void {
    this.events.push({ kind: 'asked', claim });
  }

  acknowledged(claim: Claim): void {
    this.events.push({ kind: 'acknowledged', claim });
  }

  /** Takes over what was asked and acknowledged in an earlier life. */
  resume(events: readonly DiskEvent[]): void {
    this.events.push(...events.filter(({ kind }) => kind === 'asked' || kind === 'acknowledged'));
  }

  async open(path: string, mode: 'create' | 'existing'): Promise<DiskFile> {
    if (mode === 'existing') {
      const file = await this.#inner.open(path, mode);
      return this.#recorded(path, this.#names.get(path) ?? this.#bind(path), file);
    }
    this.#inodes += 1;
    const inode = this.#inodes;
    const event = this.#nameEvent(dirname(path), [{ name: basename(path), inode }]);
    const file = await undoneOnFailure(event, this.#inner.open(path, mode));
    this.#names.set(path, inode);
    return this.#recorded(path, inode, file);
  }

  async rename(from: string, to: string): Promise<void> {
    const inode = this.#names.get(from) ?? 0;
    const gone = { name: basename(from), inode: null };
    const come = { name: basename(to), inode };
    const events =
      dirname(from) === dirname(to)
        ? [this.#nameEvent(dirname(to), [gone, come])]
        : [this.#nameEvent(dirname(to), [come]), this.#nameEvent(dirname(from), [gone])];
    await undoneOnFailure(events, this.#inner.rename(from, to));
    this.#names.delete(from);
    this.#names.set(to, inode);
  }

  async link(from: string, to: string): Promise<void> {
    const inode = this.#names.get(from) ?? 0;
    const event = this.#nameEvent(dirname(to), [{ name: basename(to), inode }]);
    await undoneOnFailure(event, this.#inner.link(from, to));
    this.#names.set(to, inode);
  }

  async remove(path: string): Promise<void> {
    const event = this.#nameEvent(dirname(path), [{ name: basename(path), inode: null }]);
    await undoneOnFailure(event, this.#inner.remove(path));
    this.#names.delete(path);
  }

  async syncDirectory(path: string): Promise<void> {
    const covers = this.events.length;
    await this.#inner.syncDirectory(path);
    if (this.#lie !== 'syncDirectory') this.events.push({ kind: 'syncDirectory', directory: path, covers });
  }

  #bind(path: string): number {
    this.#inodes += 1;
    this.#names.set(path, this.#inodes);
    return this.#inodes;
  }

  #nameEvent(directory: string, names: readonly NameChange[]): Undoable {
    const event: DiskEvent = { kind: 'names', directory, names };
    this.events.push(event);
    return event;
  }

  #recorded(path: string, inode: number, file: DiskFile): DiskFile {
    const { events } = this;
    const isOpaque = basename(path) === OPAQUE_NAME;
    return {
      write: async (bytes, position) => {
        if (isOpaque) {
          const written = await file.write(bytes, position);
          events.push({ kind: 'truncate', inode, length: file.size() });
          return written;
        }
        const event: DiskEvent = { kind: 'write', inode, bytes: Buffer.from(bytes), position };
        events.push(event);
        const written = await undoneOnFailure(event, file.write(bytes, position));
        event.bytes = event.bytes.subarray(0, written);
        return written;
      },
      datasync: async () => {
        const covers = events.length;
        await file.datasync();
        if (this.#lie !== 'datasync') events.push({ kind: 'datasync', inode, covers });
      },
      truncate: async (length) => {
        const event: DiskEvent = { kind: 'truncate', inode, length };
        events.push(event);
        await undoneOnFailure(event, file.truncate(length));
      },
      size: () => file.size(),
      close: () => file.close(),
    };
  }
}

type Undoable = { undone?: true };

async function undoneOnFailure<T>(events: Undoable | readonly Undoable[], work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    for (const event of [events].flat()) event.undone = true;
    throw error;
  }
}
