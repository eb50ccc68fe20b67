// The composition root: builds every service over the store, the upstream and the clock, and the application over them.

import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type Koa from 'koa';
import { createApp } from '../http/app.ts';
import { parseUsd } from '../ledger/nano.ts';
import { parseClassifierWeights } from '../routing/classifier-weights.ts';
import { createClassifier } from '../routing/classify.ts';
import type { Clock, CompletionDeps } from '../service/completion.ts';
import { type ControlServices, createControlServices } from '../service/control-services.ts';
import { createInFlight, type InFlight } from '../service/in-flight.ts';
import { createModelLister } from '../service/list-models.ts';
import { createPasswordHasher } from '../service/password-hasher.ts';
import { createRateLimiter } from '../service/rate-limiter.ts';
import { createRoutePreview } from '../service/route-preview.ts';
import type { Store } from '../store/store.ts';
import { createIdSource } from './id-source.ts';
import { isLoopback } from './listener.ts';
import type { DaemonLog } from './log.ts';
import type { OfferSource } from './offer-source.ts';
import { packageFile, packageVersion } from './package-root.ts';
import type { Settings } from './settings.ts';

export type Composition = {
  readonly app: Koa;
  readonly control: ControlServices;
  readonly inFlight: InFlight;
};

export type CompositionInput = {
  readonly settings: Settings;
  readonly store: Store;
  readonly offers: OfferSource;
  readonly clock: Clock;
  readonly log: DaemonLog;
  /** Known once the socket is bound. */
  allowedHosts(): ReadonlySet<string> | undefined;
};

export async function compose(input: CompositionInput): Promise<Composition> {
  const { settings, store, offers, clock, log } = input;
  const makeId = createIdSource();
  const limiter = createRateLimiter(() => clock.monotonicMs());
  const inFlight = createInFlight();
  const classify = createClassifier(parseClassifierWeights(await readFile(packageFile('config/classifier.bin'))));
  const offer = offers.current;
  const nowMs = (): number => clock.nowMs();
  const loopback = isLoopback(settings.host);
  const control = createControlServices({
    store,
    now: nowMs,
    randomBytes,
    hasher: createPasswordHasher({ randomBytes }),
    startingCreditsNano: loopback ? (parseUsd(settings.startingCredits) ?? 0) : 0,
    registrationOpen: loopback,
  });
  const { allowUnknownPrice } = settings;
  const completion: CompletionDeps = {
    store,
    limiter,
    classify,
    offer,
    clock,
    makeId,
    inFlight,
    timeouts: {
      connectMs: settings.upstreamConnectTimeoutMs,
      firstEventMs: settings.upstreamFirstEventTimeoutMs,
      idleMs: settings.upstreamIdleTimeoutMs,
    },
    allowUnknownPrice,
    secrets: settings.upstreamApiKey === undefined ? [] : [settings.upstreamApiKey],
    log,
  };
  const caller = { store, limiter, accounts: control.accounts, workspaces: control.workspaces, nowMs, offer };
  const app = createApp({
    completion,
    inference: {
      models: createModelLister(caller),
      preview: createRoutePreview({ ...caller, classify, makeId, allowUnknownPrice }),
    },
    control,
    health: { version: packageVersion(), readiness: () => readinessOf(store, offers, inFlight) },
    log,
    makeRequestId: () => makeId('req'),
    monotonicMs: () => clock.monotonicMs(),
    allowedHosts: input.allowedHosts,
    draining: () => inFlight.draining,
  });
  return { app, control, inFlight };
}

function readinessOf(store: Store, offers: OfferSource, inFlight: InFlight) {
  const { upstream, catalog } = offers.current();
  return {
    ready: store.writable && !inFlight.draining,
    store: store.writable ? ('ok' as const) : ('unwritable' as const),
    upstream: {
      name: upstream.name,
      state: offers.listed ? ('ok' as const) : ('unreachable' as const),
      models: catalog.models.length,
    },
    draining: inFlight.draining,
    in_flight: inFlight.count,
  };
}
