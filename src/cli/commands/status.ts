// `svc status`: whether the daemon runs, where, and whether it takes traffic.

import { DaemonUnreachableError } from '../../api/client-errors.ts';
import type { ReadyResponse } from '../../api/types.ts';
import type { CommandInput } from '../command.ts';
import { type Connection, connect } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';
import { renderFields } from '../field-list.ts';
import { ageText, timeText } from '../time-text.ts';

/** Waiting longer would not make it healthy. */
const TIMEOUT_MS = 5_000;

/** Exit code 5 where nothing answers; the status is printed all the same. */
export async function runStatus(input: CommandInput): Promise<number> {
  const connection = await connect(input, { timeoutMs: TIMEOUT_MS });
  try {
    await connection.client.health();
    const { ready, body } = await connection.client.ready();
    print(input, connection, { running: true, ready, checks: body });
    const { address, settings } = connection;
    // A daemon of this data directory would have left its daemon.json there.
    if (address.source === 'default') {
      input.output.note(
        `note: the daemon found at the default address is not this data directory's (${settings.home}); set SVC_HOME or --home to its own`,
      );
    }
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof DaemonUnreachableError)) throw error;
    print(input, connection, { running: false, ready: false, checks: null });
    input.output.note(error.message);
    input.output.note(`hint: ${error.hint}`);
    return EXIT.unreachable;
  }
}

type Found = { readonly running: boolean; readonly ready: boolean; readonly checks: ReadyResponse | null };

function print({ output, io }: CommandInput, { address }: Connection, found: Found): void {
  const daemon = found.running ? address.daemon : undefined;
  const status = {
    running: found.running,
    ready: found.ready,
    url: address.url,
    pid: daemon?.pid || null,
    version: daemon?.version || null,
    started_at: daemon?.startedAt || null,
    checks: found.checks,
  };
  output.result(status, () => {
    const state = found.running ? output.paint.green('running') : output.paint.red('not running');
    const since = daemon?.startedAt ? `${timeText(daemon.startedAt)} (${ageText(daemon.startedAt, io.now())})` : '';
    const fields = renderFields(
      [
        ['address', address.url],
        ['takes traffic', found.running ? readyText(found) : ''],
        ['upstream', upstreamText(found.checks?.['upstream'])],
        ['pid', daemon?.pid ? String(daemon.pid) : ''],
        ['version', daemon?.version ?? ''],
        ['since', since],
      ],
      output.paint.dim,
    );
    return `${state}\n${fields}`;
  });
}

function readyText({ ready, checks }: Found): string {
  if (ready) return 'yes';
  // The upstream has a line of its own.
  const others = Object.entries(checks ?? {}).filter(([name]) => name !== 'status' && name !== 'upstream');
  const details = others.map(([name, value]) => `${name}: ${detailText(value)}`);
  return ['no', ...details].join(', ');
}

/** Empty where the daemon says nothing about it. */
function upstreamText(upstream: unknown): string {
  if (typeof upstream !== 'object' || upstream === null) return '';
  const { name, state, models } = upstream as Readonly<Record<string, unknown>>;
  const count = typeof models === 'number' ? `, ${models} ${models === 1 ? 'model' : 'models'}` : '';
  const text = state === 'unreachable' ? 'unreachable; requests will fail until it answers' : String(state);
  return `${String(name)}: ${text}${count}`;
}

function detailText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
