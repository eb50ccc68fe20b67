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
    stdout: (text) => (output.json ? io.stderr : io.stdout).write(text),
    stderr: (text) => io.stderr.write(text),
  });
}
