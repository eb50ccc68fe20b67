// What is on offer: the upstream (or the sandbox) and the catalogue of models it lists, refreshed while the daemon runs.

import { readFile } from 'node:fs/promises';
import { createCatalog } from '../routing/catalog.ts';
import { mergeUpstreamModels } from '../routing/merge-upstream-models.ts';
import { parseCatalog } from '../routing/parse-catalog.ts';
import { parseModelList } from '../routing/parse-model-list.ts';
import type { Offer, ServiceLog } from '../service/completion.ts';
import { fetchModels } from '../upstream/fetch-models.ts';
import { createHttpUpstream } from '../upstream/http-upstream.ts';
import type { Upstream, UpstreamDialect } from '../upstream/upstream.ts';
import { packageFile } from './package-root.ts';
import { type Settings, SettingsError } from './settings.ts';

export interface OfferSource {
  current(): Offer;
  /** False until the upstream has listed its models once. */
  readonly listed: boolean;
  close(): Promise<void>;
}

/** The start waits this long for the upstream's list before it goes on with the snapshot. */
const FIRST_LIST_WAIT_MS = 400;
const RETRY_MS = 5000;
const REFRESH_MS = 3_600_000;

export async function openOfferSource(settings: Settings, log: ServiceLog, now: () => number): Promise<OfferSource> {
  const snapshotJson = await readCatalogJson(settings);
  const snapshot = parsed(() => parseCatalog(snapshotJson), settings.catalog ?? 'the shipped catalogue');
  const endpoint = await openEndpoint(settings, snapshotJson, now);
  let offer: Offer = { upstream: endpoint.upstream, catalog: endpoint.sandbox ? createCatalog([]) : snapshot };
  let listed = false;
  let timer: NodeJS.Timeout | undefined;
  const stop = new AbortController();

  async function refresh(): Promise<void> {
    let nextMs = REFRESH_MS;
    try {
      const list = await fetchModels({ baseUrl: endpoint.url, apiKey: settings.upstreamApiKey }, stop.signal);
      const models = parseModelList(list);
      if (models.length === 0) throw new Error('the list is empty');
      offer = { upstream: offer.upstream, catalog: mergeUpstreamModels(snapshot, models) };
      listed = true;
    } catch (error) {
      if (stop.signal.aborted) return;
      const reason = error instanceof Error ? error.message : String(error);
      log.warn(
        { upstream: endpoint.upstream.name, reason },
        'the list of models could not be had; the last known one stays',
      );
      nextMs = RETRY_MS;
    }
    timer = setTimeout(() => void refresh(), nextMs);
    timer.unref();
  }

  await Promise.race([refresh(), new Promise((resolve) => setTimeout(resolve, FIRST_LIST_WAIT_MS).unref())]);
  return {
    current: () => offer,
    get listed() {
      return listed;
    },
    async close() {
      clearTimeout(timer);
      stop.abort();
      await endpoint.close();
    },
  };
}

type Endpoint = {
  readonly upstream: Upstream;
  readonly url: string;
  readonly sandbox: boolean;
  close(): Promise<void>;
};

async function openEndpoint(settings: Settings, snapshotJson: unknown, now: () => number): Promise<Endpoint> {
  if (settings.upstreamUrl !== undefined) {
    const upstream = createHttpUpstream({
      name: new URL(settings.upstreamUrl).host,
      baseUrl: settings.upstreamUrl,
      apiKey: settings.upstreamApiKey,
      formats: settings.upstreamFormats,
      dialect: dialectOf(settings),
    });
    return { upstream, url: settings.upstreamUrl, sandbox: false, close: () => upstream.close() };
  }
  const { startSandbox } = await import('../upstream/sandbox/sandbox.ts');
  const sandbox = await startSandbox({ catalogJson: snapshotJson, now });
  const upstream = createHttpUpstream({
    name: 'sandbox',
    baseUrl: sandbox.url,
    apiKey: undefined,
    formats: ['chat'],
    dialect: 'openrouter',
    takesSandboxField: true,
  });
  const close = async (): Promise<void> => {
    await upstream.close();
    await sandbox.close();
  };
  return { upstream, url: sandbox.url, sandbox: true, close };
}

/** OpenAI's own API is the strict one; aggregators take OpenRouter's extensions. */
function dialectOf(settings: Settings): UpstreamDialect {
  if (settings.upstreamDialect !== 'auto') return settings.upstreamDialect;
  return new URL(settings.upstreamUrl ?? 'http://sandbox').hostname.endsWith('openai.com') ? 'openai' : 'openrouter';
}

async function readCatalogJson(settings: Settings): Promise<unknown> {
  const path = settings.catalog ?? packageFile('config/catalog.json');
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new SettingsError(
      `the catalogue ${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  });
  return withOverrides(
    parsed((): unknown => JSON.parse(text), path),
    settings.catalogOverrides,
  );
}

/** `catalog.overrides` changes single fields of single models. */
function withOverrides(catalog: unknown, overrides: Settings['catalogOverrides']): unknown {
  if (Object.keys(overrides).length === 0 || !isRecord(catalog) || !Array.isArray(catalog['models'])) return catalog;
  const models = catalog['models'].map((model: unknown) => {
    const changed = isRecord(model) && typeof model['id'] === 'string' ? overrides[model['id']] : undefined;
    return changed && isRecord(model) ? { ...model, ...changed } : model;
  });
  return { ...catalog, models };
}

function parsed<T>(parse: () => T, source: string): T {
  try {
    return parse();
  } catch (error) {
    throw new SettingsError(`${source}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
