import { listModelPrices, type ModelPriceRow } from "../../db/model-prices-repo.ts";
import { isolateCache } from "../../lib/isolate-cache.ts";
import { createPriceMap, type PriceMap } from "./price-map.ts";
import type { ModelPrice } from "./price-list.ts";

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
