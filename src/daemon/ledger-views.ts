// What `svc ledger` answers: reports of the store as the command line prints them, amounts as decimal strings of USD.

import { renderUsd } from '../ledger/nano.ts';
import type { ReconcileGroupBy, ReconcileReport, ReconcileSums } from '../store/reconcile-journal.ts';
import type { Damage, VerifyReport } from '../store/verify-journal.ts';

export type WorkspaceLine = {
  readonly workspace_id: string;
  /** Null where the documents do not say. */
  readonly name: string | null;
  readonly granted: string;
  readonly charged: string;
  readonly balance: string;
  readonly held: string;
  readonly available: string;
  readonly requests: number;
};
export type LedgerVerification = {
  readonly ok: boolean;
  readonly directory: string;
  /** Whether a daemon has the directory. */
  readonly running: boolean;
  readonly records: number;
  readonly segments: number;
  readonly open_holds: number;
  readonly first_segment: number;
  /** Whether older segments have expired, so that sums begin with what was carried over. */
  readonly carried: boolean;
  readonly torn: { readonly file: string; readonly offset: number; readonly bytes: number } | null;
  /** Records that were durable once and are gone with the torn tail: the disk has lost them. */
  readonly lost_records: number;
  /** Reading stopped at damage: all sums are of the records before it. */
  readonly partial: boolean;
  readonly workspaces: readonly WorkspaceLine[];
  /** Over all workspaces. */
  readonly total: Omit<WorkspaceLine, 'workspace_id' | 'name'>;
  /** The first; `offset` is of the segment's text. */
  readonly damage: Damage | null;
  readonly problems: readonly string[];
  /** Whether all that is wrong is in files that can be made again from the journal. */
  readonly index_only: boolean;
};

export type ReconciledSums = {
  readonly requests: number;
  readonly compared: number;
  readonly our_cost: string;
  readonly upstream_cost: string;
  /** Ours less theirs. */
  readonly difference: string;
  /** Of theirs, two decimals; null where theirs is 0. */
  readonly difference_percent: string | null;
  readonly without_upstream_cost: number;
  readonly our_cost_without: string;
  readonly estimated: number;
  readonly anomalies: Readonly<Record<string, number>>;
};
export type LedgerReconciliation = {
  readonly directory: string;
  readonly by: ReconcileGroupBy;
  /** Whether older segments have expired: their requests are not in any sum. */
  readonly carried: boolean;
  readonly total: ReconciledSums;
  readonly groups: readonly ({ readonly group: string } & ReconciledSums)[];
  readonly requests: readonly {
    readonly request_id: string;
    readonly model: string | null;
    readonly our_cost: string;
    readonly upstream_cost: string;
    readonly difference: string;
  }[];
};

/** `names` of workspaces by their ids. */
export function verificationOf(
  home: string,
  running: boolean,
  report: VerifyReport,
  names: ReadonlyMap<string, string>,
): LedgerVerification {
  const { torn, first } = report;
  const indexProblems = report.indexFaults.map(({ file, reason }) => `${file}: ${reason}`);
  const workspaces = report.workspaces.map(({ workspaceId, ...sums }) => ({
    workspace_id: workspaceId,
    name: names.get(workspaceId) ?? null,
    ...amountsOf(sums),
  }));
  return {
    ok: report.ok,
    directory: home,
    running,
    records: report.lines,
    segments: report.segments,
    open_holds: report.openHolds,
    first_segment: report.firstSegment,
    carried: report.firstSegment > 1,
    torn: torn === null ? null : { file: torn.file, offset: torn.offset, bytes: torn.bytes },
    lost_records: report.lostRecords,
    partial: report.damage !== null,
    workspaces,
    total: totalOf(report),
    damage: first,
    problems: [...report.problems, ...indexProblems],
    index_only: isIndexOnly(report),
  };
}

function isIndexOnly({ ok, damage, problems, indexFaults }: VerifyReport): boolean {
  return !ok && damage === null && problems.length === 0 && !indexFaults.some(({ ofJournal }) => ofJournal);
}

function totalOf({ workspaces }: VerifyReport): LedgerVerification['total'] {
  const sum = (field: 'grantedNano' | 'chargedNano' | 'heldNano'): bigint =>
    workspaces.reduce((total, workspace) => total + BigInt(workspace[field]), 0n);
  const entries = workspaces.reduce((total, workspace) => total + workspace.entries, 0);
  return amountsOf({
    grantedNano: sum('grantedNano'),
    chargedNano: sum('chargedNano'),
    heldNano: sum('heldNano'),
    entries,
  });
}

type Sums = {
  readonly grantedNano: bigint | number;
  readonly chargedNano: bigint | number;
  readonly heldNano: bigint | number;
  readonly entries: number;
};

function amountsOf({ grantedNano, chargedNano, heldNano, entries }: Sums): LedgerVerification['total'] {
  const balance = BigInt(grantedNano) - BigInt(chargedNano);
  const held = BigInt(heldNano);
  return {
    granted: usdOf(BigInt(grantedNano)),
    charged: usdOf(BigInt(chargedNano)),
    balance: usdOf(balance),
    held: usdOf(held),
    available: usdOf(balance - held),
    requests: entries,
  };
}

export function reconciliationOf(home: string, by: ReconcileGroupBy, report: ReconcileReport): LedgerReconciliation {
  return {
    directory: home,
    by,
    carried: report.firstSegment > 1,
    total: reconciledSums(report.total),
    groups: report.groups.map(({ group, ...sums }) => ({ group, ...reconciledSums(sums) })),
    requests: report.requests.map(({ requestId, model, oursNano, theirsNano }) => ({
      request_id: requestId,
      model,
      our_cost: renderUsd(oursNano),
      upstream_cost: renderUsd(theirsNano),
      difference: renderUsd(oursNano - theirsNano),
    })),
  };
}

function reconciledSums(sums: ReconcileSums): ReconciledSums {
  return {
    requests: sums.requests,
    compared: sums.compared,
    our_cost: usdOf(sums.ours),
    upstream_cost: usdOf(sums.theirs),
    difference: usdOf(sums.ours - sums.theirs),
    difference_percent: percentOf(sums.ours - sums.theirs, sums.theirs),
    without_upstream_cost: sums.silent,
    our_cost_without: usdOf(sums.silentOurs),
    estimated: sums.estimated,
    anomalies: Object.fromEntries([...sums.anomalies].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

function percentOf(part: bigint, whole: bigint): string | null {
  if (whole === 0n) return null;
  return ((Number(part) / Number(whole)) * 100).toFixed(2);
}

const NANO_PER_USD = 1_000_000_000n;

/** As `renderUsd`, also for sums that no safe integer holds. */
function usdOf(nano: bigint): string {
  const size = nano < 0n ? -nano : nano;
  const fraction = renderUsd(Number(size % NANO_PER_USD)).slice(1);
  return `${nano < 0n ? '-' : ''}${size / NANO_PER_USD}${fraction}`;
}
