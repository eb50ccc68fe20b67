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
  // Usage that came before a stream broke was billed upstream, even where no text was delivered.
  const delivered = whole || meter.deliveredBytes > 0 || meter.usage !== undefined;
  if (!hold || !delivered) {
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
