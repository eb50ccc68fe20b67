// What is asked of the journal after each fault: in order by two readers, and every whole answer charged once.

import { join } from 'node:path';
import { expect } from 'vitest';
import { verifyJournal } from '../../src/store/verify-journal.ts';
import { type Asked, costNanoOf } from './asking.ts';
import { type Audit, auditJournal } from './journal-audit.ts';

/** What an independent reader makes of the journal; both it and the product's own proof must find nothing wrong. */
export async function checkBooks(home: string, asked: readonly Asked[], what: string): Promise<Audit> {
  const journal = join(home, 'journal');
  const { ok, problems, damage } = await verifyJournal(journal);
  expect({ ok, problems, damage }, what).toEqual({ ok: true, problems: [], damage: null });
  const audit = auditJournal(journal);
  expect(audit.problems, what).toEqual([]);
  const whole = asked.filter((answer) => answer.whole);
  const charged = whole.map(({ requestId }) => [requestId, audit.settles.get(requestId)?.chargeNano]);
  expect(charged, what).toEqual(whole.map(({ requestId, number }) => [requestId, BigInt(costNanoOf(number))]));
  return audit;
}
