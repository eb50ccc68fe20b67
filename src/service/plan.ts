// Plan: which model serves a request, and the decision that says why.

import { parseUsd } from '../ledger/nano.ts';
import type { Catalog, CatalogModel } from '../routing/catalog.ts';
import { closeNames } from '../routing/close-names.ts';
import type { Classification, Exclusion } from '../routing/decision.ts';
import { matchesAny } from '../routing/eligible.ts';
import { needsOf } from '../routing/needs.ts';
import { PRESETS, presetByModel } from '../routing/presets.ts';
import { passthroughDecision, type RouteInput, type RouteLimits, route } from '../routing/route.ts';
import { summarizeDecision } from '../routing/summarize-decision.ts';
import type { Preferences } from '../store/store.ts';
import type { NeutralRequest } from '../wire/neutral.ts';
import { SvcError } from '../wire/svc-error.ts';
import type { Classifier, Plan } from './completion.ts';
import type { Principal } from './principal.ts';
import { parseSvcOptions, type SvcOptions } from './svc-options.ts';

export type PlanInput = {
  readonly id: string;
  readonly request: NeutralRequest;
  readonly catalog: Catalog;
  readonly classify: (request: NeutralRequest) => Classification;
  readonly preferences: Preferences;
  /** Null for a dry run under a session: no key narrows the models. */
  readonly principal: Principal | null;
  readonly skipRouting: boolean;
  readonly optionsHeader: string | undefined;
  readonly allowUnknownPrice: boolean;
  readonly nowMs: number;
};

/** Throws `INVALID_MODEL`, `MODEL_NOT_ALLOWED`, `INVALID_REQUEST` (overrides) or `UNSUPPORTED_FEATURE` (nothing can serve it). */
export function planRequest(input: PlanInput): Plan {
  const { request } = input;
  const options = parseSvcOptions(request.svc, input.optionsHeader);
  const preset = presetByModel(request.model);
  if (preset && input.skipRouting) {
    throw new SvcError(
      'INVALID_MODEL',
      `X-Svc-Skip-Routing asks to use the model as given, but ${preset.id} is virtual: name a real model.`,
      {
        param: 'model',
      },
    );
  }
  const base = {
    id: input.id,
    request,
    requested: request.model,
    classification: input.classify(request),
    needs: needsOf(request),
    catalog: input.catalog,
    limits: limitsOf(input, options),
    nowSeconds: Math.floor(input.nowMs / 1000),
  };
  if (!preset) return planReal(base, realModel(input));
  const auto = preset.id === 'svc:auto';
  const weights = options.weights ?? (auto ? input.preferences.weights : null) ?? preset.weights;
  return planVirtual({ ...base, preset: preset.id, weights }, auto ? 'auto' : 'virtual');
}

function planVirtual(input: RouteInput, classifier: Classifier): Plan {
  const routing = route(input);
  if ('none' in routing) {
    if (input.needs.reasoning) return planWithoutReasoning(input, classifier);
    throw nothingEligible(input, routing.none);
  }
  return {
    model: routing.chosen,
    virtualModel: input.preset,
    classifier,
    classification: input.classification,
    needs: input.needs,
    summary: summarizeDecision(input, routing),
    decision: () => routing.decision(),
  };
}

/** Clients ask for reasoning by default, whatever serves them: where no model can reason, one that can't is better than none. */
function planWithoutReasoning(input: RouteInput, classifier: Classifier): Plan {
  const plan = planVirtual({ ...input, needs: { ...input.needs, reasoning: false } }, classifier);
  const why = `${plan.summary.why} No model that can serve it has reasoning, so it goes without.`;
  return { ...plan, summary: { ...plan.summary, why }, decision: () => ({ ...plan.decision(), why }) };
}

function planReal(base: Omit<RouteInput, 'preset' | 'weights'>, model: CatalogModel): Plan {
  const { classification, needs } = base;
  return {
    model,
    virtualModel: null,
    classifier: 'passthrough',
    classification,
    needs,
    summary: {
      id: base.id,
      preset: null,
      weights: null,
      classification: {
        task_type: classification.task_type,
        domain: classification.domain,
        complexity: classification.complexity,
        difficulty: classification.difficulty,
        confidence: classification.confidence,
      },
      needs: { ...needs },
      chosen: model.id,
      why: `${model.id} was asked for by name.`,
      sticky: false,
    },
    decision: () => passthroughDecision({ ...base, model }),
  };
}

function realModel(input: PlanInput): CatalogModel {
  const wanted = input.request.model;
  const model = input.catalog.byId.get(wanted);
  const gone = model?.expires !== undefined && model.expires * 1000 <= input.nowMs;
  if (!model || gone) throw unknownModel(wanted, input.catalog, gone);
  const allowed = input.principal?.apiKey.models;
  if (allowed && !matchesAny(model.id, allowed)) {
    throw new SvcError('MODEL_NOT_ALLOWED', `This API key may not use ${model.id}: it allows ${allowed.join(', ')}.`, {
      param: 'model',
    });
  }
  if (!model.pricing && !input.allowUnknownPrice) {
    throw new SvcError(
      'MODEL_NOT_ALLOWED',
      `The price of ${model.id} is unknown, so it can't be charged; the operator can allow it with SVC_ALLOW_UNKNOWN_PRICE=true.`,
      {
        param: 'model',
      },
    );
  }
  return model;
}

function unknownModel(wanted: string, catalog: Catalog, gone: boolean): SvcError {
  if (gone)
    return new SvcError('INVALID_MODEL', `The model ${JSON.stringify(wanted)} has expired.`, { param: 'model' });
  const names = [...PRESETS.map(({ id }) => id), ...catalog.byId.keys()];
  const close = closeNames(wanted, names);
  const hint = close.length > 0 ? `Did you mean ${close.join(', ')}?` : 'GET /v1/models lists what there is.';
  return new SvcError('INVALID_MODEL', `The model ${JSON.stringify(wanted.slice(0, 200))} does not exist. ${hint}`, {
    param: 'model',
  });
}

const REASONS_SHOWN = 3;

function nothingEligible(input: RouteInput, excluded: readonly Exclusion[]): SvcError {
  const counts = new Map<string, number>();
  for (const { reason } of excluded) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const most = [...counts].sort((a, b) => b[1] - a[1]).slice(0, REASONS_SHOWN);
  const said = most.map(([reason, count]) => `${reason} (${count})`).join('; ');
  const tooLong = excluded.length > 0 && excluded.every(({ reason }) => reason.includes('context'));
  return new SvcError(
    tooLong ? 'CONTEXT_LENGTH_EXCEEDED' : 'MODEL_NOT_ALLOWED',
    `No model can serve this request under ${input.requested}: ${said || 'the upstream lists no models'}.`,
    { param: 'model' },
  );
}

function limitsOf(input: PlanInput, options: SvcOptions): RouteLimits {
  const { preferences, principal } = input;
  const allow = options.models?.allow ?? [];
  const maxInput = perMTok(preferences.maxPrice.input);
  const maxOutput = perMTok(preferences.maxPrice.output);
  return {
    allow: allow.length > 0 ? allow : preferences.models.allow,
    deny: [...preferences.models.deny, ...(options.models?.deny ?? [])],
    keyModels: principal?.apiKey.models ?? null,
    allowUnknownPrice: input.allowUnknownPrice,
    ...(maxInput === undefined ? {} : { maxInputPerMTok: maxInput }),
    ...(maxOutput === undefined ? {} : { maxOutputPerMTok: maxOutput }),
    ...(options.maxCostNano === undefined ? {} : { maxCostNano: options.maxCostNano }),
  };
}

/** Preferences cap prices in USD per million tokens, the catalogue's own unit but for the nano. */
function perMTok(usd: string | null): number | undefined {
  return usd === null ? undefined : parseUsd(usd);
}
