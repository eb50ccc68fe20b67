// `svc serve`: the daemon in the foreground.

import { loadSettings } from '../../daemon/settings.ts';
import type { CommandInput } from '../command.ts';
import { serveSettings } from '../serve-options.ts';

/** Resolves with the daemon's exit code once it has ended. */
export async function runServe(input: CommandInput): Promise<number> {
  const { options, io, output } = input;
  // A switch given without a value is on.
  const givenValue = (name: string): string | undefined =>
    options.text(name) ?? (options.isSet(name) ? 'true' : undefined);
  const flags = Object.fromEntries(serveSettings().map(({ name }) => [name, givenValue(name)]));
  // Before the daemon's code is loaded: a wrong setting should be told at once.
  const settings = loadSettings({ flags, env: io.env });
  const { runDaemon } = await import('../../daemon/run-daemon.ts');
  return await runDaemon(settings, {
    stdout: output.json
      ? jsonStart((value) => io.stdout.write(`${JSON.stringify(value)}\n`))
      : (text) => io.stdout.write(text),
    stderr: (text) => io.stderr.write(text),
  });
}

const LISTENS = / listens on (\S+) \(upstream: (.*?), data: (.*)\)\n/;
const API_KEY = /svc_sk_[0-9A-Za-z]+/;

/**
 * For `--json`: takes the text that the daemon prints for people, and once it says that it listens, writes what it said
 * as one object. The text goes nowhere else: it has the first key in it, which belongs in no log.
 */
export function jsonStart(write: (value: unknown) => void): (text: string) => void {
  let said = '';
  let done = false;
  return (text) => {
    if (done) return;
    said += text;
    const [, url, upstream, directory] = LISTENS.exec(said) ?? [];
    if (url === undefined) return;
    const [key] = API_KEY.exec(said) ?? [];
    done = true;
    said = '';
    write({ url, upstream, data_directory: directory, ...(key === undefined ? {} : { api_key: key }) });
  };
}
