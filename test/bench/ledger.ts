// The ledger's benchmarks: `npm run bench:ledger [-- --seconds 3 --in-flight 1,64,256 | --entries 1000000] [--json]`. See README.md here.

import { parseArgs } from 'node:util';
import { measureScale } from './ledger-scale.ts';
import { renderScale, targetsOf } from './ledger-scale-text.ts';
import { measureThroughput, renderThroughput } from './ledger-throughput.ts';

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '3' },
    'in-flight': { type: 'string', default: '1,64,256' },
    entries: { type: 'string' },
    throughput: { type: 'boolean', default: false },
    queries: { type: 'string', default: '100' },
    'segment-mib': { type: 'string', default: '64' },
    keep: { type: 'string' },
    seed: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
  },
});

const seed = positive('seed', options.seed);
const throughput =
  options.entries === undefined || options.throughput
    ? await measureThroughput({
        seconds: positive('seconds', options.seconds),
        rounds: positive('rounds', options.rounds),
        inFlight: options['in-flight'].split(',').map((count) => positive('in-flight', count)),
        seed,
      })
    : null;
const scale =
  options.entries === undefined
    ? null
    : await measureScale({
        entries: positive('entries', options.entries),
        queries: positive('queries', options.queries),
        segmentBytesMax: positive('segment-mib', options['segment-mib']) * 1_048_576,
        seed,
        ...(options.keep !== undefined && { keepIn: options.keep }),
      });

if (options.json) {
  const targets = scale === null ? null : targetsOf(scale);
  process.stdout.write(`${JSON.stringify({ throughput, scale, targets }, null, 2)}\n`);
} else {
  const parts = [throughput && renderThroughput(throughput), scale && renderScale(scale)];
  process.stdout.write(parts.filter((part) => part !== null).join('\n'));
}
if (scale?.exact === false) process.exitCode = 1;

function positive(name: string, text: string): number {
  const value = Number(text);
  if (value > 0) return value;
  process.stderr.write(`--${name} takes a number above 0, not "${text}"\n`);
  process.exit(2);
}
