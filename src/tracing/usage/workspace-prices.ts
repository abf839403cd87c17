import { v7 as uuidv7 } from "uuid";
import {
  deleteModelPrice,
  insertModelPrice,
  listModelPrices,
  type ModelPriceFields,
  type ModelPriceRow,
  updateModelPrice,
} from "../../db/model-prices-repo.ts";
import { ApiError } from "../../lib/api-error.ts";
import { builtInPrices } from "./built-in-prices.ts";
import { createPriceMap, type PriceMap } from "./price-map.ts";
import type { ModelPrice } from "./price-list.ts";
import { isolateCache } from "../../lib/isolate-cache.ts";

/** Maximum number of a workspace's prices, which are all read at once. */
const MAX_OWN_PRICES = 1000;

/** The fields that identify a price: two prices of a workspace must differ in one of them. */
const IDENTITY = ["name", "match_pattern", "match_path", "provider", "start_time"] as const;

/** `isOwn` is false for a built-in price. */
type ListedPrice = { price: ModelPrice; isOwn: boolean };

/** Returns the workspace's own prices, the newest first, and then the built-in ones. */
export async function listPrices(
  db: D1Database,
  workspaceId: string,
  { q, limit, offset }: { q?: string | undefined; limit: number; offset: number },
): Promise<{ prices: ListedPrice[]; total: number }> {
  const own = (await listModelPrices(db, workspaceId)).map(toModelPrice);
  const ids = new Set(own.map(({ id }) => id));
  const text = q?.toLowerCase() ?? "";
  const found = [...own, ...builtInPrices()].filter((price) => mentions(price, text));
  return {
    total: found.length,
    prices: found
      .slice(offset, offset + limit)
      .map((price) => ({ price, isOwn: ids.has(price.id) })),
  };
}

export async function createPrice(
  db: D1Database,
  workspaceId: string,
  fields: ModelPriceFields,
): Promise<ModelPrice> {
  const own = await listModelPrices(db, workspaceId);
  if (own.length >= MAX_OWN_PRICES) {
    throw new ApiError(
      "bad_request",
      `A workspace can have at most ${MAX_OWN_PRICES} model prices`,
    );
  }
  assertUnlike(own, fields);
  const row = { ...fields, id: uuidv7(), workspace_id: workspaceId, created_at: Date.now() };
  await insertModelPrice(db, row);
  forgetPrices(workspaceId);
  return toModelPrice(row);
}

export async function replacePrice(
  db: D1Database,
  workspaceId: string,
  id: string,
  fields: ModelPriceFields,
): Promise<ModelPrice> {
  assertNotBuiltIn(id);
  const own = await listModelPrices(db, workspaceId);
  assertUnlike(
    own.filter((row) => row.id !== id),
    fields,
  );
  const row = await updateModelPrice(db, workspaceId, id, fields);
  if (row === undefined) throw new ApiError("not_found", "Model price not found");
  forgetPrices(workspaceId);
  return toModelPrice(row);
}

/** Deletes a price. An id that the workspace does not have is accepted: the price does not exist afterwards. */
export async function removePrice(db: D1Database, workspaceId: string, id: string): Promise<void> {
  assertNotBuiltIn(id);
  await deleteModelPrice(db, workspaceId, id);
  forgetPrices(workspaceId);
}

function assertNotBuiltIn(id: string): void {
  if (!builtInPrices().some((price) => price.id === id)) return;
  const advice = "create one with the same match_pattern, which then applies instead";
  throw new ApiError("forbidden", `A built-in model price cannot be changed: ${advice}`);
}

function assertUnlike(others: readonly ModelPriceRow[], fields: ModelPriceFields): void {
  const isSame = (row: ModelPriceRow): boolean => IDENTITY.every((key) => row[key] === fields[key]);
  if (!others.some(isSame)) return;
  const names = IDENTITY.join(", ");
  throw new ApiError("conflict", `There is a model price with the same ${names}`);
}

function mentions({ name, matchPattern, provider }: ModelPrice, text: string): boolean {
  return [name, matchPattern, provider ?? ""].some((each) => each.toLowerCase().includes(text));
}

/** The prices of each workspace. A change made in another isolate can go unnoticed for up to 30 seconds. */
const prices = isolateCache<string, PriceMap>({ maxEntries: 1000, ttlMs: 30_000 });

/** Returns the prices for the runs of a workspace, which may be up to 30 seconds old. */
export async function loadPrices(db: D1Database, workspaceId: string): Promise<PriceMap> {
  const known = prices.get(workspaceId);
  if (known !== undefined) return known;
  const rows = await listModelPrices(db, workspaceId);
  const loaded = createPriceMap(rows.map(toModelPrice));
  prices.set(workspaceId, loaded);
  return loaded;
}

/** Must be called whenever a workspace's prices were changed. */
export function forgetPrices(workspaceId: string): void {
  prices.delete(workspaceId);
}

/** Converts a row to a workspace's own price. */
function toModelPrice(row: ModelPriceRow): ModelPrice {
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
