import { listModelPrices } from "../../db/model-prices-repo.ts";
import { createPriceMap, type PriceMap } from "./price-map.ts";
import { toModelPrice } from "./stored-price.ts";

/** How long another isolate's change may go unnoticed here. */
const TTL_MS = 30_000;

const MAX_ENTRIES = 1000;

type Entry = { prices: PriceMap; expiresAt: number };

/** By workspace, the oldest entry first. */
const entries = new Map<string, Entry>();

/** What runs of a workspace cost, as of at most 30 seconds ago. */
export async function loadPrices(db: D1Database, workspaceId: string): Promise<PriceMap> {
  const cached = entries.get(workspaceId);
  if (cached !== undefined && cached.expiresAt > Date.now()) return cached.prices;
  const rows = await listModelPrices(db, workspaceId);
  const prices = createPriceMap(rows.map(toModelPrice));
  entries.delete(workspaceId);
  entries.set(workspaceId, { prices, expiresAt: Date.now() + TTL_MS });
  for (const oldest of entries.keys()) {
    if (entries.size <= MAX_ENTRIES) break;
    entries.delete(oldest);
  }
  return prices;
}

/** To be called whenever a workspace's prices were changed. */
export function forgetPrices(workspaceId: string): void {
  entries.delete(workspaceId);
}
