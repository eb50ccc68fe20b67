// What a command may touch of the process around it; tests pass their own.

export type CliOutput = {
  readonly write: (text: string) => void;
  readonly isTerminal: boolean;
  /** Width of the terminal; undefined where there is none. */
  readonly columns: number | undefined;
};

export type CliIo = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: CliOutput;
  readonly stderr: CliOutput;
  readonly stdin: {
    readonly isTerminal: boolean;
    /** All of standard input as UTF-8; throws where it is over the limit. */
    readonly readAll: () => Promise<string>;
  };
  /** Asks a person and resolves with the line typed, empty at the end of input. For terminals only. */
  readonly ask: (question: string) => Promise<string>;
  readonly now: () => Date;
};
