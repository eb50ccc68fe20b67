// What a power cut may leave of a recorded disk: the durable part, and any part of what was not synced.
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import type { DiskEvent, NameChange, RecordingDisk } from './recording-disk.ts';

const SECTOR_BYTES = 512;

type ContentEvent = Extract<DiskEvent, { kind: 'write' | 'truncate' }>;
type Pending<E> = { readonly at: number; readonly event: E };
type File = { durable: Buffer; pending: Pending<ContentEvent>[] };
type Directory = { readonly durable: Map<string, number>; pending: Pending<Extract<DiskEvent, { kind: 'names' }>>[] };

/** How often each kind of loss was part of a state. */
export type Reached = Record<
  'contentLost' | 'contentCut' | 'sectorsLost' | 'zeroTail' | 'nameLost' | 'nameBeforeContent' | 'namesReordered',
  number
>;

export function newReached(): Reached {
  return {
    contentLost: 0,
    contentCut: 0,
    sectorsLost: 0,
    zeroTail: 0,
    nameLost: 0,
    nameBeforeContent: 0,
    namesReordered: 0,
  };
}

/** Content by path below the root. */
export type CrashState = {
  readonly files: ReadonlyMap<string, Buffer>;
  readonly hash: string;
  /** Sectors of one write were lost while later ones of it are there. */
  readonly hasHoles: boolean;
};

/** Everything stays, everything is lost, or each file and directory draws its own fate. */
export type Fate = 'kept' | 'lost' | 'drawn';

export class CrashImage {
  readonly #root: string;
  readonly #files = new Map<number, File>();
  readonly #directories = new Map<string, Directory>();
  #at = 0;

  constructor(disk: RecordingDisk) {
    this.#root = disk.root;
    for (const { path, inode, bytes } of disk.initial) {
      this.#files.set(inode, { durable: bytes, pending: [] });
      this.#directoryOf(dirname(path)).durable.set(basename(path), inode);
    }
  }

  /** Takes the next event of the log in. */
  take(event: DiskEvent): void {
    const at = this.#at;
    this.#at += 1;
    if (event.kind === 'datasync') this.#syncFile(event.inode, event.covers);
    else if (event.kind === 'syncDirectory') this.#syncNames(event.directory, event.covers);
    else if (event.kind === 'asked' || event.kind === 'acknowledged' || event.undone === true) return;
    else if (event.kind === 'names') this.#directoryOf(event.directory).pending.push({ at, event });
    else this.#fileOf(event.inode).pending.push({ at, event });
  }

  /** One state a cut at this point may leave. */
  draw(fate: Fate, random: () => number, reached: Reached): CrashState {
    const contents = new Map<number, Buffer>();
    const files = new Map<string, Buffer>();
    let hasHoles = false;
    const contentOf = (inode: number): Buffer => {
      const known = contents.get(inode);
      if (known !== undefined) return known;
      const drawn = drawContent(this.#fileOf(inode), fate, random, reached);
      hasHoles ||= drawn.hasHoles;
      contents.set(inode, drawn.bytes);
      return drawn.bytes;
    };
    for (const [path, directory] of this.#directories) {
      for (const [name, inode] of drawNames(directory, fate, random, reached)) {
        const file = this.#fileOf(inode);
        if (file.pending.length > 0 && directory.durable.get(name) !== inode) reached.nameBeforeContent += 1;
        files.set(join(relative(this.#root, path), name), contentOf(inode));
      }
    }
    return { files, hash: hashOf(files), hasHoles };
  }

  #syncFile(inode: number, covers: number): void {
    const file = this.#fileOf(inode);
    for (const { at, event } of file.pending) if (at < covers) file.durable = applied(file.durable, event);
    file.pending = file.pending.filter(({ at }) => at >= covers);
  }

  #syncNames(path: string, covers: number): void {
    const directory = this.#directoryOf(path);
    for (const { at, event } of directory.pending) if (at < covers) rename(directory.durable, event.names);
    directory.pending = directory.pending.filter(({ at }) => at >= covers);
  }

  #fileOf(inode: number): File {
    const known = this.#files.get(inode);
    if (known !== undefined) return known;
    const file = { durable: Buffer.alloc(0), pending: [] };
    this.#files.set(inode, file);
    return file;
  }

  #directoryOf(path: string): Directory {
    const known = this.#directories.get(path);
    if (known !== undefined) return known;
    const directory = { durable: new Map<string, number>(), pending: [] };
    this.#directories.set(path, directory);
    return directory;
  }
}

/** Puts a state on a real disk, below a directory that exists. */
export function materialise(state: CrashState, directory: string): void {
  chmodSync(directory, 0o700);
  for (const name of ['journal', 'documents', 'index']) mkdirSync(join(directory, name), { mode: 0o700 });
  for (const [path, bytes] of state.files) {
    const target = join(directory, path);
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    // Followed by its size alone, so nothing but zeros is in it.
    const isOpaque = basename(path) === 'reserve.bin';
    writeFileSync(target, isOpaque ? '' : bytes, { mode: 0o600 });
    if (isOpaque) truncateSync(target, bytes.length);
  }
}

type Content = { readonly bytes: Buffer; readonly hasHoles: boolean };

function drawContent(file: File, fate: Fate, random: () => number, reached: Reached): Content {
  const events = file.pending.map(({ event }) => event);
  const whole = (bytes: Buffer): Content => ({ bytes, hasHoles: false });
  if (events.length === 0) return whole(file.durable);
  const all = () => events.reduce(applied, file.durable);
  if (fate === 'kept') return whole(all());
  const kind = fate === 'lost' ? 0 : Math.floor(random() * 5);
  if (kind === 4) return whole(all());
  const kept = fate === 'lost' ? 0 : Math.floor(random() * events.length);
  const before = events.slice(0, kept).reduce(applied, file.durable);
  if (kind === 0) {
    reached.contentLost += 1;
    return whole(before);
  }
  const next = events[kept];
  if (kind === 1 && next?.kind === 'write') {
    reached.contentCut += 1;
    return whole(applied(before, { ...next, bytes: next.bytes.subarray(0, cutOf(next, random)) }));
  }
  const after = all();
  if (kind === 2) {
    reached.zeroTail += after.length > before.length ? 1 : 0;
    return whole(after.length > before.length ? grown(before, after.length) : before);
  }
  return loseSectors(before, after, random, reached);
}

/** Sectors reach the disk in any order, so any of them may be as it was. */
function loseSectors(before: Buffer, after: Buffer, random: () => number, reached: Reached): Content {
  const bytes = Buffer.from(after);
  const old = grown(before, Math.max(before.length, after.length));
  let hasHoles = false;
  let lost = false;
  for (let start = 0; start < bytes.length; start += SECTOR_BYTES) {
    const end = Math.min(bytes.length, start + SECTOR_BYTES);
    const differs = old.compare(bytes, start, end, start, end) !== 0;
    if (differs && lost) hasHoles = true;
    if (!differs || random() < 0.5) continue;
    old.copy(bytes, start, start, end);
    lost = true;
  }
  if (lost) reached.sectorsLost += 1;
  return { bytes, hasHoles };
}

function drawNames(
  directory: Directory,
  fate: Fate,
  random: () => number,
  reached: Reached,
): ReadonlyMap<string, number> {
  const names = new Map(directory.durable);
  const { pending } = directory;
  const kept = fate === 'kept' ? pending.length : fate === 'lost' ? 0 : Math.floor(random() * (pending.length + 1));
  if (kept < pending.length) reached.nameLost += 1;
  for (const { event } of pending.slice(0, kept)) rename(names, event.names);
  // Changes of other names need not keep the order they were made in.
  const touched = new Set(pending.slice(0, kept).flatMap(({ event }) => event.names.map(({ name }) => name)));
  for (const { event } of pending.slice(kept)) {
    const isFree = event.names.every(({ name }) => !touched.has(name));
    for (const { name } of event.names) touched.add(name);
    if (fate !== 'drawn' || !isFree || random() < 0.8) continue;
    rename(names, event.names);
    reached.namesReordered += 1;
  }
  return names;
}

function rename(names: Map<string, number>, changes: readonly NameChange[]): void {
  for (const { name, inode } of changes) {
    if (inode === null) names.delete(name);
    else names.set(name, inode);
  }
}

function applied(content: Buffer, event: ContentEvent): Buffer {
  if (event.kind === 'truncate') return grown(content, event.length).subarray(0, event.length);
  const bytes = Buffer.from(grown(content, Math.max(content.length, event.position + event.bytes.length)));
  event.bytes.copy(bytes, event.position);
  return bytes;
}

function grown(content: Buffer, length: number): Buffer {
  return length <= content.length ? content : Buffer.concat([content], length);
}

/** Often at a sector, else anywhere. */
function cutOf(write: Extract<DiskEvent, { kind: 'write' }>, random: () => number): number {
  const length = Math.floor(random() * write.bytes.length);
  if (random() < 0.5) return length;
  const end = Math.floor((write.position + length) / SECTOR_BYTES) * SECTOR_BYTES;
  return Math.max(0, end - write.position);
}

function hashOf(files: ReadonlyMap<string, Buffer>): string {
  const hash = createHash('sha256');
  for (const path of [...files.keys()].sort()) {
    const bytes = files.get(path) ?? Buffer.alloc(0);
    hash.update(`${path}\n${bytes.length}\n`);
    if (basename(path) !== 'reserve.bin') hash.update(bytes);
  }
  return hash.digest('hex');
}
