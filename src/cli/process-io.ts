// The real process as a `CliIo`.

import { processEnv } from '../daemon/settings.ts';
import type { CliIo, CliOutput } from './cli-io.ts';

/** As much as the daemon takes in one body. */
const STDIN_BYTES_MAX = 32 * 1024 * 1024;

export function processIo(): CliIo {
  return {
    env: processEnv(),
    stdout: outputOf(process.stdout),
    stderr: outputOf(process.stderr),
    stdin: { isTerminal: process.stdin.isTTY === true, readAll: readStdin },
    ask,
    now: () => new Date(),
  };
}

function outputOf(stream: NodeJS.WriteStream): CliOutput {
  // `svc usage | head` closes the pipe early; the reader has what it wanted.
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    process.stderr.write(`error: the output cannot be written: ${error.message}\n`);
    process.exit(1);
  });
  return {
    write: (text) => {
      stream.write(text);
    },
    isTerminal: stream.isTTY === true,
    columns: stream.isTTY ? stream.columns : undefined,
  };
}

async function readStdin(): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin) {
    const part: Uint8Array = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    bytes += part.byteLength;
    if (bytes > STDIN_BYTES_MAX) throw new Error('standard input is longer than 32 MiB');
    chunks.push(part);
  }
  return Buffer.concat(chunks).toString('utf8');
}

async function ask(question: string): Promise<string> {
  // Loaded here since hardly any command asks.
  const { createInterface } = await import('node:readline');
  // Not as a terminal interface: that would swallow Ctrl-C.
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  return await new Promise((resolve) => {
    lines.once('close', () => resolve(''));
    lines.question(question, (answer) => {
      resolve(answer);
      lines.close();
    });
  });
}
