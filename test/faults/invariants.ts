// What must hold after any fault (I1 to I8), against what callers were told: the model of every fault test.
import { join } from 'node:path';
import { expect } from 'vitest';
import type { GrantRecord, HoldRecord, ProgressRecord, SettleRecord } from '../../src/ledger/records.ts';
import type { Ledger } from '../../src/store/store.ts';
import { verifyJournal } from '../../src/store/verify-journal.ts';
import { type Audit, auditJournal } from './journal-audit.ts';

/** Something asked of the store. `version` counts the writes of one document, from 1. */
export type Claim =
  | { readonly kind: 'grant'; readonly record: GrantRecord }
  | { readonly kind: 'hold'; readonly record: HoldRecord; readonly heldNano?: number }
  | { readonly kind: 'settle'; readonly record: SettleRecord }
  | { readonly kind: 'progress'; readonly record: ProgressRecord }
  | { readonly kind: 'document'; readonly key: string; readonly version: number };

type Versions = { asked: number; acknowledged: number };

/** What was asked of the store and what of it was acknowledged. */
export class Model {
  readonly grants = new Map<string, bigint>();
  readonly grantsKept = new Set<string>();
  readonly holds = new Map<string, bigint>();
  /** What the caller was told it holds. */
  readonly holdsKept = new Map<string, bigint>();
  readonly charges = new Map<string, Set<bigint>>();
  readonly settlesKept = new Set<string>();
  readonly documents = new Map<string, Versions>();
  acknowledgements = 0;

  asked(claim: Claim): void {
    if (claim.kind === 'grant') this.grants.set(claim.record.id, BigInt(claim.record.amountNano));
    else if (claim.kind === 'hold') this.holds.set(claim.record.requestId, BigInt(claim.record.amountNano));
    else if (claim.kind === 'document') this.#versionsOf(claim.key).asked = claim.version;
    else this.#addCharge(claim.record.requestId, claim.record.chargeNano);
  }

  acknowledged(claim: Claim): void {
    this.acknowledgements += 1;
    if (claim.kind === 'grant') this.grantsKept.add(claim.record.id);
    else if (claim.kind === 'hold') this.#keepHold(claim.record, claim.heldNano);
    else if (claim.kind === 'settle') this.settlesKept.add(claim.record.requestId);
    else if (claim.kind === 'document') this.#keepDocument(claim.key, claim.version);
  }

  #keepHold(record: HoldRecord, heldNano: number | undefined): void {
    this.holdsKept.set(record.requestId, BigInt(heldNano ?? record.amountNano));
  }

  #keepDocument(key: string, version: number): void {
    const versions = this.#versionsOf(key);
    versions.acknowledged = Math.max(versions.acknowledged, version);
  }

  #addCharge(requestId: string, chargeNano: number): void {
    const charges = this.charges.get(requestId) ?? new Set();
    this.charges.set(requestId, charges.add(BigInt(chargeNano)));
  }

  #versionsOf(key: string): Versions {
    const known = this.documents.get(key);
    if (known !== undefined) return known;
    const versions = { asked: 0, acknowledged: 0 };
    this.documents.set(key, versions);
    return versions;
  }
}

export type CheckOptions = {
  /** Nothing runs any more: no hold may be open, no tail torn. */
  readonly ended?: boolean;
  /** What the upstream says it billed, in nano-dollars (I6). */
  readonly billedNano?: bigint;
  /** The open store's own answers are held against the journal too. */
  readonly ledger?: Ledger;
  /** The version of a document as the store has it now, 0 where there is none. */
  readonly versionOf?: (key: string) => number;
};

/** Fails the test with every sentence of what is wrong; `what` names the run and its seed. */
export async function checkInvariants(
  directory: string,
  model: Model,
  what: string,
  options: CheckOptions = {},
): Promise<void> {
  expect(await findViolations(directory, model, options), what).toEqual([]);
}

/** `directory` is the data directory. Sentences, none when all is well. */
export async function findViolations(directory: string, model: Model, options: CheckOptions = {}): Promise<string[]> {
  const journal = join(directory, 'journal');
  const audit = auditJournal(journal);
  const problems = [...audit.problems];
  checkVerify(problems, audit, await verifyJournal(journal));
  checkGrants(problems, audit, model);
  checkHolds(problems, audit, model);
  checkSettles(problems, audit, model);
  checkEnd(problems, audit, options);
  if (options.ledger !== undefined) checkLedger(problems, audit, options.ledger);
  if (options.versionOf !== undefined) checkDocuments(problems, model, options.versionOf);
  return problems;
}

function checkVerify(problems: string[], audit: Audit, report: Awaited<ReturnType<typeof verifyJournal>>): void {
  if (report.damage !== null) problems.push(`I7: verify finds damage: ${report.damage.message}`);
  problems.push(...report.problems.map((problem) => `verify: ${problem}`));
  const counts = [report.lines, report.openHolds, report.torn?.bytes ?? 0];
  if (String(counts) !== String([audit.lines, audit.open.size, audit.tornBytes])) {
    problems.push(
      `I7: verify counts lines, open holds and torn bytes ${counts} instead of ${audit.lines},${audit.open.size},${audit.tornBytes}`,
    );
  }
  for (const { workspaceId, grantedNano, chargedNano, heldNano } of report.workspaces) {
    const sums = audit.workspaces.get(workspaceId);
    const same =
      sums?.granted === BigInt(grantedNano) && sums.charged === BigInt(chargedNano) && sums.held === BigInt(heldNano);
    if (!same) problems.push(`I2: verify has other sums for ${workspaceId}`);
  }
}

function checkGrants(problems: string[], audit: Audit, model: Model): void {
  for (const id of model.grantsKept) if (!audit.grants.has(id)) problems.push(`I5: the grant ${id} is lost`);
  for (const [id, { amountNano }] of audit.grants) {
    if (model.grants.get(id) !== amountNano) problems.push(`I2: nobody granted ${amountNano} as ${id}`);
  }
}

function checkHolds(problems: string[], audit: Audit, model: Model): void {
  for (const [id, heldNano] of model.holdsKept) {
    if (audit.holds.get(id)?.amountNano !== heldNano) problems.push(`I5: the hold of ${id} over ${heldNano} is lost`);
  }
  for (const [id, { amountNano }] of audit.holds) {
    if (amountNano > (model.holds.get(id) ?? -1n)) problems.push(`I4: nobody asked to hold ${amountNano} for ${id}`);
  }
}

function checkSettles(problems: string[], audit: Audit, model: Model): void {
  for (const id of model.settlesKept) if (!audit.settles.has(id)) problems.push(`I8: the settlement of ${id} is lost`);
  for (const [id, { chargeNano, reason }] of audit.settles) {
    const recovered = reason === 'recovered';
    if (recovered && model.settlesKept.has(id)) problems.push(`I5: ${id} was settled and is recovered`);
    const held = audit.holds.get(id)?.amountNano ?? 0n;
    const asked = [...(model.charges.get(id) ?? [])].some((nano) => (nano < held ? nano : held) === chargeNano);
    if (recovered ? recoveredCharge(audit, id, held) !== chargeNano : !asked)
      problems.push(`I2: nobody charged ${chargeNano} for ${id}`);
  }
}

/** A dead process's hold is posted at what was last known to be delivered, else released. */
function recoveredCharge(audit: Audit, requestId: string, held: bigint): bigint {
  const known = audit.progress.get(requestId) ?? 0n;
  return known < held ? known : held;
}

function checkEnd(problems: string[], audit: Audit, options: CheckOptions): void {
  if (options.ended === true) {
    if (audit.tornBytes > 0) problems.push(`I7: ${audit.tornBytes} bytes of a torn tail are left`);
    for (const id of audit.open) problems.push(`I4: the hold of ${id} has no end`);
  }
  if (options.billedNano === undefined) return;
  let charged = 0n;
  for (const { chargeNano } of audit.settles.values()) charged += chargeNano;
  if (charged !== options.billedNano) problems.push(`I6: ${charged} charged, ${options.billedNano} billed`);
}

function checkLedger(problems: string[], audit: Audit, ledger: Ledger): void {
  for (const [id, { granted, charged, held }] of audit.workspaces) {
    const balance = ledger.balance(id);
    const told = [balance.grantedNano, balance.chargedNano, balance.heldNano].map(BigInt);
    if (String(told) !== String([granted, charged, held])) {
      problems.push(`I2: ${id} has granted, charged and held ${told} instead of ${[granted, charged, held]}`);
    }
    const spent = ledger.usageSums(id, 'key', {}).reduce((sum, { costNano }) => sum + BigInt(costNano), 0n);
    if (spent !== charged) problems.push(`I2: the usage of ${id} adds up to ${spent} instead of ${charged}`);
  }
}

function checkDocuments(problems: string[], model: Model, versionOf: (key: string) => number): void {
  for (const [key, { asked, acknowledged }] of model.documents) {
    const version = versionOf(key);
    if (version < acknowledged) problems.push(`I5: ${key} is at version ${version}, ${acknowledged} was acknowledged`);
    if (version > asked) problems.push(`I5: ${key} is at version ${version}, only ${asked} were written`);
  }
}
