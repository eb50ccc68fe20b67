// Holds a ledger state that was kept somewhere against what the audit itself arrived at.

import type { KeySpendState } from '../ledger/key-spend.ts';
import type { LedgerState } from '../ledger/ledger-fold.ts';
import type { JournalAudit } from './journal-audit.ts';

type Texts = ReadonlyMap<string, string>;

/** Sentences, one for each thing that differs; the audit must stand at the state's own place in the journal. */
export function stateDifferences(audit: JournalAudit, state: LedgerState): readonly string[] {
  return [
    ...differences('the sums of workspace', auditedSums(audit), keptSums(state)),
    ...differences('the spending of key', auditedSpends(audit), keptSpends(state)),
    ...differences('the open hold', recordTexts(audit.openHolds.values()), recordTexts(state.holds)),
    ...differences('the progress of', recordTexts(audit.openProgress.values()), recordTexts(state.progress)),
    ...differences('the grant', idTexts(audit.grantIds), idTexts(state.grantIds)),
    ...state.settledIds
      .filter((id) => !audit.hasEnded(id))
      .map((id) => `the end of ${id}: there, and in the journal: none`),
  ];
}

function differences(what: string, audited: Texts, kept: Texts): readonly string[] {
  const ids = new Set([...audited.keys(), ...kept.keys()]);
  return [...ids]
    .filter((id) => audited.get(id) !== kept.get(id))
    .map((id) => `${what} ${id}: ${kept.get(id) ?? 'none'}, and in the journal: ${audited.get(id) ?? 'none'}`);
}

/** Of workspaces with any: one that has only been asked for may be in a state or not. */
function auditedSums(audit: JournalAudit): Texts {
  const sums = Array.from(audit.workspaces).filter(([, { granted, charged }]) => granted + charged > 0n);
  return new Map(sums.map(([id, { granted, charged }]) => [id, sumsText(granted, charged)]));
}

function keptSums({ workspaces }: LedgerState): Texts {
  const sums = workspaces.filter(({ grantedNano, chargedNano }) => grantedNano !== 0 || chargedNano !== 0);
  return new Map(sums.map(({ id, grantedNano, chargedNano }) => [id, sumsText(grantedNano, chargedNano)]));
}

function auditedSpends(audit: JournalAudit): Texts {
  return spendTexts(audit.keySpends());
}

function keptSpends({ keys }: LedgerState): Texts {
  return spendTexts(keys.map(({ id, ...spend }) => [id, spend]));
}

/** Of keys that were charged anything, as with workspaces. */
function spendTexts(spends: Iterable<readonly [string, KeySpendState]>): Texts {
  const charged = Array.from(spends).filter(([, { totalNano }]) => totalNano !== 0);
  return new Map(charged.map(([id, spend]) => [id, spendText(spend)]));
}

function recordTexts(records: Iterable<{ readonly requestId: string }>): Texts {
  return new Map(Array.from(records, (record) => [record.requestId, canonical(record)]));
}

function idTexts(ids: Iterable<string>): Texts {
  return new Map(Array.from(ids, (id) => [id, 'given']));
}

function sumsText(granted: bigint | number, charged: bigint | number): string {
  return `granted ${granted}, charged ${charged} nano-dollars`;
}

function spendText({ totalNano, days, months }: KeySpendState): string {
  return `${totalNano} nano-dollars, by day ${periodsText(days)}, by month ${periodsText(months)}`;
}

function periodsText(periods: KeySpendState['days']): string {
  const inOrder = [...periods].sort(([a], [b]) => a - b);
  return inOrder.map(([period, nano]) => `${period}:${nano}`).join(' ');
}

/** JSON with the fields of every object in order: in memory and in the journal they may stand in another one. */
function canonical(record: unknown): string {
  return JSON.stringify(record, (_name, value: unknown) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
