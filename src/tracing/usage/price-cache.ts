import { listModelPrices } from "../../db/model-prices-repo.ts";
import { isolateCache } from "../../lib/isolate-cache.ts";
import { createPriceMap, type PriceMap } from "./price-map.ts";
import { toModelPrice } from "./stored-price.ts";

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
