// Runs of an SDK: a small program of ours beside its packages, which asks for the weather and prints the answer.

import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ClientRun } from './client-under-test.ts';

const PROGRAMS = fileURLToPath(new URL('programs', import.meta.url));

export type SdkRun = {
  readonly title: string;
  readonly program: string;
  /** Which of the program's ways to call; empty where it has one. */
  readonly way?: string;
  readonly stream: boolean;
  readonly messages: boolean;
  readonly model: string;
};

export function sdkRun(run: SdkRun): ClientRun {
  return {
    title: run.title,
    model: run.model,
    stream: run.stream,
    messages: run.messages,
    async prepare({ directory, url, key }) {
      // Beside the packages, since that is where Node looks for them.
      const program = join(directory, run.program);
      await copyFile(join(PROGRAMS, run.program), program);
      const env = {
        SVC_URL: url,
        SVC_API_KEY: key,
        MODEL: run.model,
        STREAM: run.stream ? '1' : '',
        WAY: run.way ?? '',
      };
      return { command: process.execPath, args: [program], env };
    },
    call: (tools) => {
      const tool = tools.find(({ name }) => name === 'get_weather');
      return tool === undefined ? undefined : { name: tool.name, arguments: { city: 'Oslo' } };
    },
  };
}

export type Way = { readonly way: string; readonly title: string; readonly messages?: boolean };

/** Each way of a program, streaming and not, with a real model and a virtual one. */
export function sdkRuns(program: string, ways: readonly Way[]): ClientRun[] {
  return ways.flatMap(({ way, title, messages = false }) => [
    sdkRun({ title: `${title}, streaming, a real model`, program, way, messages, stream: true, model: 'test/good' }),
    sdkRun({ title: `${title}, whole answers, svc:auto`, program, way, messages, stream: false, model: 'svc:auto' }),
  ]);
}
