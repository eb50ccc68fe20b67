// What a request costs by what is known of it now: after a whole answer, a broken one, or in the middle of one.

import { chargeNano } from '../ledger/price.ts';
import type { CostKind } from '../ledger/records.ts';
import { boundCharge } from '../ledger/usage-guard.ts';
import { type ChargedUsage, chargedUsage, NO_USAGE } from './charged-usage.ts';
import type { Road } from './road.ts';

export type KnownCost = ChargedUsage & {
  /** Never more than is held. */
  readonly nano: number;
  readonly kind: CostKind;
};

/** `whole`: the upstream said that the answer was finished. Reads the road's meter and changes nothing. */
export function knownCost(road: Road, whole: boolean): KnownCost {
  const { hold, meter } = road;
  // Output the upstream counted before it failed was billed there, even where none of it was delivered.
  const delivered = whole || meter.deliveredBytes > 0 || (meter.usage?.outputTokens ?? 0) > 0;
  if (!hold || !delivered || meter.refused) {
    return { nano: 0, kind: 'free', usage: NO_USAGE, measured: false, anomalies: meter.anomalies };
  }
  const charged = chargedUsage(road, hold, whole);
  const bounded = boundCharge(chargeNano(hold.pricing, charged.usage, road.size.images), hold.heldNano);
  return {
    ...charged,
    nano: bounded.chargeNano,
    kind: kindOf(bounded.chargeNano, charged.measured && !hold.priceAssumed),
    anomalies: [...charged.anomalies, ...bounded.anomalies],
  };
}

function kindOf(nano: number, measured: boolean): CostKind {
  if (!measured) return 'estimated';
  return nano === 0 ? 'free' : 'measured';
}
