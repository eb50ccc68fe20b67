// The types that travel the road of a completion: the call as it came, what the road depends on, and its plan.

import type { DecisionSummary } from '../ledger/records.ts';
import type { Catalog, CatalogModel } from '../routing/catalog.ts';
import type { Classification, Decision, Needs } from '../routing/decision.ts';
import type { Store } from '../store/store.ts';
import type { Upstream, UpstreamTimeouts } from '../upstream/upstream.ts';
import type { JsonBody } from '../wire/json-scan.ts';
import type { Dialect, NeutralRequest } from '../wire/neutral.ts';
import type { EmbeddingsRequest } from '../wire/parse-embeddings-request.ts';
import type { CallKind } from './call-kind.ts';
import type { InFlight } from './in-flight.ts';
import type { RateLimiter } from './rate-limiter.ts';

/** A completion as it came in. Headers are already picked out; the body is read only once the caller is known. */
export type CompletionCall = {
  readonly requestId: string;
  readonly dialect: Dialect;
  /** Absent for completions. */
  readonly kind?: CallKind;
  readonly credential: string | undefined;
  readBody(): Promise<Buffer>;
  /** `X-Svc-Source`, already cleaned; null when absent or unusable. */
  readonly source: string | null;
  readonly skipRouting: boolean;
  /** `anthropic-version` and `anthropic-beta` as sent, for upstreams that speak Messages. */
  readonly callerHeaders: Readonly<Record<string, string>>;
  /** `X-Svc-Options` as sent. */
  readonly options: string | undefined;
  /** Monotonic milliseconds at which the request came in. */
  readonly startedMs: number;
};

/** Time and chance, handed in. */
export type Clock = {
  /** Milliseconds since 1970. */
  nowMs(): number;
  /** Monotonic milliseconds. */
  monotonicMs(): number;
};

/** One state of what can be served: the upstream and the models it lists. Replaced whole at a refresh. */
export type Offer = { readonly upstream: Upstream; readonly catalog: Catalog };

export interface ServiceLog {
  debug(fields: Readonly<Record<string, unknown>>, message: string): void;
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}

export type CompletionDeps = {
  readonly store: Store;
  readonly limiter: RateLimiter;
  readonly classify: (request: NeutralRequest) => Classification;
  offer(): Offer;
  readonly clock: Clock;
  makeId(prefix: string): string;
  readonly inFlight: InFlight;
  readonly timeouts: UpstreamTimeouts;
  readonly allowUnknownPrice: boolean;
  /** What an upstream may echo and no client may see: its own credential. */
  readonly secrets: readonly string[];
  readonly log: ServiceLog;
};

export type Classifier = 'auto' | 'virtual' | 'passthrough';

/** What routing settled for one request. */
export type Plan = {
  readonly model: CatalogModel;
  readonly virtualModel: string | null;
  readonly classifier: Classifier;
  readonly classification: Classification;
  /** There for calls without a prompt, of which a classification says nothing. */
  readonly unclassified?: true;
  readonly needs: Needs;
  readonly summary: DecisionSummary;
  /** The whole record, made when asked for. */
  decision(): Decision;
};

export type ParsedRequest = {
  /** What goes upstream where bytes pass: already optimised, where the workspace asked for it. */
  readonly body: JsonBody;
  readonly request: NeutralRequest;
  /** About how many tokens optimisation took out; absent when it was off. */
  readonly tokensSaved?: number;
  /** There for embeddings alone. */
  readonly embeddings?: EmbeddingsRequest;
};
