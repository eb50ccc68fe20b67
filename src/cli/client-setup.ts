// What svc knows of one client: how it is set up, and what was seen of it.

/** What a client is pointed at. */
export type ClientTarget = {
  /** The daemon's, without `/v1`. */
  readonly url: string;
  /** The API key where the environment gives it, else a placeholder. */
  readonly key: string;
  /** Name of the environment variable that holds the key. */
  readonly keyVariable: string;
  readonly model: string;
};

/** Where a client's files are looked for. */
export type ClientPlaces = {
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
};

export type JsonRecord = { readonly [name: string]: unknown };

/** What a client's file must hold: fields merged into JSON, or a block of text appended where it is absent. */
export type ClientContent =
  | { readonly kind: 'json'; readonly fields: JsonRecord }
  | {
      readonly kind: 'block';
      /** Comes before the block in a new file. */
      readonly head: string;
      readonly block: string;
      /** Matches a file that has settings of the same name already, which a block can't be added to. */
      readonly taken: RegExp;
      /** What such a file has, in words. */
      readonly takenBy: string;
    };

export type ClientFile = {
  readonly path: (places: ClientPlaces) => string;
  readonly content: (target: ClientTarget) => ClientContent;
  /** The file must hold the key itself, since the client reads it from nowhere else. */
  readonly holdsKey: boolean;
};

export type ClientSetup = {
  readonly name: string;
  readonly title: string;
  /** Version it was run with; null where it was not run. */
  readonly version: string | null;
  /** Paths it calls. */
  readonly calls: string;
  /** What was seen, in a clause. */
  readonly seen: string;
  readonly env?: (target: ClientTarget) => Readonly<Record<string, string>>;
  readonly file?: ClientFile;
  /** Code or commands, each with its language. */
  readonly lines: (target: ClientTarget) => readonly { readonly language: string; readonly text: string }[];
};

/** As one word of a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
