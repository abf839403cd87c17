import { builtInPriceList } from "./built-in-prices.ts";
import { compileNamePattern, type NamePattern, PatternError } from "./name-pattern.ts";
import { type ModelPrice, PriceList, type RateCard } from "./price-list.ts";
import type { RunModel } from "./run-model.ts";
import { listModelPrices, type ModelPriceRow } from "../../db/model-prices-repo.ts";
import { isolateCache } from "../../lib/isolate-cache.ts";

/** A workspace's own prices, and those that it starts with. */
export type PriceMap = { own: PriceList; builtIn: PriceList };

/** `own` with the newest entry first: of equals, the first counts. */
export function createPriceMap(own: readonly ModelPrice[]): PriceMap {
  return {
    own: new PriceList(own.toSorted(byPrecedence), { compile: storedPattern }),
    builtIn: builtInPriceList(),
  };
}

/**
 * What a run that started then pays: own prices before built-in ones, and among the own the latest
 * that was in force. Null for models without a price.
 */
export function selectPrice(
  prices: PriceMap,
  model: RunModel,
  startTime: number,
  promptTokens: number,
): RateCard | null {
  const inForce = (card: RateCard): boolean =>
    (card.startTime ?? 0) <= startTime && promptTokens > (card.promptTokenThreshold ?? -1);
  return prices.own.find(model).find(inForce) ?? prices.builtIn.find(model).find(inForce) ?? null;
}

function byPrecedence(left: ModelPrice, right: ModelPrice): number {
  const later = (right.startTime ?? -1) - (left.startTime ?? -1);
  if (later !== 0) return later;
  return Number(right.provider !== null) - Number(left.provider !== null);
}

/** It was checked when it was stored; one that is refused since then fits no model. */
function storedPattern(source: string): NamePattern {
  try {
    return compileNamePattern(source);
  } catch (error) {
    if (error instanceof PatternError) return { matches: () => false };
    throw error;
  }
}

/** The prices of each workspace. Another isolate's change may go unnoticed here for 30 seconds. */
const prices = isolateCache<string, PriceMap>({ maxEntries: 1000, ttlMs: 30_000 });

/** What runs of a workspace cost, as of at most 30 seconds ago. */
export async function loadPrices(db: D1Database, workspaceId: string): Promise<PriceMap> {
  const known = prices.get(workspaceId);
  if (known !== undefined) return known;
  const rows = await listModelPrices(db, workspaceId);
  const loaded = createPriceMap(rows.map(toModelPrice));
  prices.set(workspaceId, loaded);
  return loaded;
}

/** To be called whenever a workspace's prices were changed. */
export function forgetPrices(workspaceId: string): void {
  prices.delete(workspaceId);
}

/** A workspace's own price, of its row. */
export function toModelPrice(row: ModelPriceRow): ModelPrice {
  return {
    id: row.id,
    name: row.name,
    matchPattern: row.match_pattern,
    matchPath: JSON.parse(row.match_path) as string[],
    provider: row.provider,
    startTime: row.start_time === null ? null : row.start_time * 1000,
    promptTokenThreshold: null,
    promptCost: row.prompt_cost,
    completionCost: row.completion_cost,
    promptCostDetails: toDetails(row.prompt_cost_details),
    completionCostDetails: toDetails(row.completion_cost_details),
  };
}

function toDetails(json: string | null): Record<string, string> {
  return json === null ? {} : (JSON.parse(json) as Record<string, string>);
}
