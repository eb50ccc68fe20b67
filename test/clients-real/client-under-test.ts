// What a client's module says about it: how it starts, and the runs it goes through.

import type { ClientName } from './versions.ts';

export type ClientUnderTest = {
  readonly name: ClientName;
  readonly title: string;
  /** A quick start that shows whether it runs on this machine; SDKs need none. */
  readonly probe?: (directory: string) => Command;
  readonly runs: readonly ClientRun[];
};

export type Command = { readonly command: string; readonly args: readonly string[] };

export type ClientRun = {
  /** Ends the sentence "works …". */
  readonly title: string;
  readonly model: string;
  /** Whether the upstream is asked to stream in the loop with the tool. */
  readonly stream: boolean;
  /** It speaks Messages, so it goes through the loop a second time before an upstream that speaks Messages too. */
  readonly messages: boolean;
  /** Writes what the client reads, and says how to start it. */
  readonly prepare: (place: Place) => Promise<Command & { readonly env?: Readonly<Record<string, string>> }>;
  /** The call the model makes, with a tool out of those that were offered; undefined where none fits. */
  readonly call: (tools: readonly OfferedTool[], place: Place) => ToolCall | undefined;
};

export type Place = {
  readonly url: string;
  readonly key: string;
  /** Where its packages are. */
  readonly directory: string;
  /** HOME, a temp directory. */
  readonly home: string;
  /** Its working directory, which has `note.txt`. */
  readonly work: string;
};

export type OfferedTool = { readonly name: string; readonly properties: readonly string[] };
export type ToolCall = { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> };

/** A prompt of a person who wants a file read. */
export const PROMPT = 'Read the file note.txt and tell me the code word in it.';

/** Calls the client's own tool for reading files, with whatever its argument is called. */
export function readNote(name: RegExp): ClientRun['call'] {
  return (tools, place) => {
    const tool = tools.find((offered) => name.test(offered.name));
    const path = tool?.properties.find((property) => /^(file_?path|absolute_?path|path)$/i.test(property));
    if (tool === undefined || path === undefined) return undefined;
    return { name: tool.name, arguments: { [path]: `${place.work}/note.txt` } };
  };
}
