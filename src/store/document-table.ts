// One kind of document in memory, over one file: readers see only what is on disk, writers share a write.

import { Low } from 'lowdb';
import type { Disk } from './disk.ts';
import { isDiskFull, storageUnavailable } from './disk-full.ts';
import { DurableJsonAdapter } from './durable-json-adapter.ts';

export type DocumentFile<T> = { readonly format: 1; readonly items: readonly T[] };

export type DocumentTableOptions<T> = {
  readonly directory: string;
  readonly name: string;
  readonly required: boolean;
  /** Throws when the content isn't a file of these documents. */
  readonly parse: (content: unknown) => DocumentFile<T>;
  readonly idOf: (item: T) => string;
  /** A second unique key, such as a digest. */
  readonly indexOf?: (item: T) => string;
  /** Items that may be dropped at the next write. */
  readonly isStale?: (item: T) => boolean;
  /** A write failed for another reason than a full disk. */
  readonly onFatal: (error: Error) => void;
  readonly disk: Disk;
};

/** What a change does to the documents to be written; what it throws rejects this change alone. */
export type Change<T> = (next: Map<string, T>) => void;

type Pending<T> = {
  readonly change: Change<T>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
};

/** Reads the file, and makes it where it is missing and not required. */
export async function openDocumentTable<T>(options: DocumentTableOptions<T>): Promise<DocumentTable<T>> {
  const low = new Low<DocumentFile<T>>(new DurableJsonAdapter(options), { format: 1, items: [] });
  const found = await low.adapter.read();
  if (found === null) await low.write();
  else low.data = found;
  return new DocumentTable(options, low);
}

export class DocumentTable<T> {
  readonly #options: DocumentTableOptions<T>;
  readonly #low: Low<DocumentFile<T>>;
  #items: Map<string, T>;
  #index = new Map<string, T>();
  #queue: Pending<T>[] = [];
  #draining: Promise<void> | null = null;

  constructor(options: DocumentTableOptions<T>, low: Low<DocumentFile<T>>) {
    this.#options = options;
    this.#low = low;
    this.#items = new Map(low.data.items.map((item) => [options.idOf(item), deepFreeze(item)]));
    this.#reindex();
  }

  get(id: string): T | undefined {
    return this.#items.get(id);
  }

  find(indexKey: string): T | undefined {
    return this.#index.get(indexKey);
  }

  values(): readonly T[] {
    return [...this.#items.values()];
  }

  get size(): number {
    return this.#items.size;
  }

  put(item: T): Promise<void> {
    const copy = this.copy(item);
    return this.change((next) => next.set(this.#options.idOf(copy), copy));
  }

  /** A frozen copy, for a change to put in. */
  copy(item: T): T {
    return deepFreeze(structuredClone(item));
  }

  /** Resolves once the change is on disk; readers see it from then on. */
  change(change: Change<T>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ change, resolve, reject });
      this.#draining ??= this.#drain();
    });
  }

  /** Resolves when nothing is being written. */
  async idle(): Promise<void> {
    await this.#draining;
  }

  async #drain(): Promise<void> {
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const pending = this.#queue;
      this.#queue = [];
      await this.#writeTogether(pending);
    }
    this.#draining = null;
  }

  async #writeTogether(pending: readonly Pending<T>[]): Promise<void> {
    const next = new Map(this.#items);
    this.#dropStale(next);
    const applied = pending.filter((each) => tryChange(each, next));
    if (applied.length === 0) return;
    const before = this.#low.data;
    this.#low.data = { format: 1, items: [...next.values()] };
    try {
      await this.#low.write();
    } catch (error) {
      this.#low.data = before;
      for (const each of applied) each.reject(storageUnavailable(error));
      if (!isDiskFull(error)) this.#options.onFatal(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    this.#items = next;
    this.#reindex();
    for (const each of applied) each.resolve();
  }

  #dropStale(next: Map<string, T>): void {
    const { isStale } = this.#options;
    if (isStale === undefined) return;
    for (const [id, item] of next) if (isStale(item)) next.delete(id);
  }

  #reindex(): void {
    const { indexOf } = this.#options;
    if (indexOf === undefined) return;
    this.#index = new Map();
    for (const item of this.#items.values()) this.#index.set(indexOf(item), item);
  }
}

function tryChange<T>(pending: Pending<T>, next: Map<string, T>): boolean {
  try {
    pending.change(next);
    return true;
  } catch (error) {
    pending.reject(error);
    return false;
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const inner of Object.values(value)) deepFreeze(inner);
  return value;
}
