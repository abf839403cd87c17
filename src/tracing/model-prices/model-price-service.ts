import { v7 as uuidv7 } from "uuid";
import {
  deleteModelPrice,
  insertModelPrice,
  listModelPrices,
  type ModelPriceFields,
  type ModelPriceRow,
  updateModelPrice,
} from "../../db/model-prices-repo.ts";
import type { AppContext } from "../../http/app-types.ts";
import { ApiError } from "../../lib/api-error.ts";
import { builtInPrices } from "../usage/built-in-prices.ts";
import { forgetPrices } from "../usage/price-cache.ts";
import type { ModelPrice } from "../usage/price-list.ts";
import { DEFAULT_MATCH_PATH } from "../usage/run-model.ts";
import { toModelPrice } from "../usage/stored-price.ts";
import type {
  ModelPriceBody,
  ModelPriceJson,
  ModelPriceListQuery,
} from "../api/v1/model-prices/schemas.ts";

/** All of a workspace's prices are read at once. */
const MAX_OWN_PRICES = 1000;

/** What makes two prices of one workspace the same one. */
const IDENTITY = ["name", "match_pattern", "match_path", "provider", "start_time"] as const;

/** The workspace's own prices, the newest first, and then the built-in ones. */
export async function listPrices(
  c: AppContext,
  { q, limit, offset }: ModelPriceListQuery,
): Promise<{ prices: ModelPriceJson[]; total: number }> {
  const { workspaceId } = c.var.scope;
  const own = (await listModelPrices(c.env.DB, workspaceId)).map(toModelPrice);
  const ids = new Set(own.map(({ id }) => id));
  const text = q?.toLowerCase() ?? "";
  const found = [...own, ...builtInPrices()].filter((price) => mentions(price, text));
  return {
    total: found.length,
    prices: found
      .slice(offset, offset + limit)
      .map((price) => toJson(price, ids.has(price.id) ? workspaceId : null)),
  };
}

export async function createPrice(c: AppContext, body: ModelPriceBody): Promise<ModelPriceJson> {
  const { workspaceId } = c.var.scope;
  const own = await listModelPrices(c.env.DB, workspaceId);
  if (own.length >= MAX_OWN_PRICES) {
    throw new ApiError("bad_request", `A workspace can have ${MAX_OWN_PRICES} model prices`);
  }
  const fields = toFields(body);
  assertUnlike(own, fields);
  const row = { ...fields, id: uuidv7(), workspace_id: workspaceId, created_at: Date.now() };
  await insertModelPrice(c.env.DB, row);
  forgetPrices(workspaceId);
  return toJson(toModelPrice(row), workspaceId);
}

/** What the body leaves out gets its default. */
export async function replacePrice(
  c: AppContext,
  id: string,
  body: ModelPriceBody,
): Promise<ModelPriceJson> {
  const { workspaceId } = c.var.scope;
  assertNotBuiltIn(id);
  const fields = toFields(body);
  const own = await listModelPrices(c.env.DB, workspaceId);
  assertUnlike(
    own.filter((row) => row.id !== id),
    fields,
  );
  const row = await updateModelPrice(c.env.DB, workspaceId, id, fields);
  if (row === undefined) throw new ApiError("not_found", "Model price not found");
  forgetPrices(workspaceId);
  return toJson(toModelPrice(row), workspaceId);
}

/** An id that is none of the workspace's is fine: the price is not there afterwards. */
export async function removePrice(c: AppContext, id: string): Promise<void> {
  assertNotBuiltIn(id);
  await deleteModelPrice(c.env.DB, c.var.scope.workspaceId, id);
  forgetPrices(c.var.scope.workspaceId);
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

function toFields(body: ModelPriceBody): ModelPriceFields {
  return {
    name: body.name,
    match_pattern: body.match_pattern,
    match_path: JSON.stringify(body.match_path ?? DEFAULT_MATCH_PATH),
    provider: body.provider ?? null,
    start_time: body.start_time == null ? null : Math.floor(body.start_time / 1000),
    prompt_cost: body.prompt_cost,
    completion_cost: body.completion_cost,
    prompt_cost_details: toText(body.prompt_cost_details),
    completion_cost_details: toText(body.completion_cost_details),
  };
}

function toText(details: Record<string, string> | null | undefined): string | null {
  return details == null ? null : JSON.stringify(details);
}

function mentions({ name, matchPattern, provider }: ModelPrice, text: string): boolean {
  return [name, matchPattern, provider ?? ""].some((each) => each.toLowerCase().includes(text));
}

function toJson(price: ModelPrice, tenantId: string | null): ModelPriceJson {
  return {
    id: price.id,
    tenant_id: tenantId,
    name: price.name,
    match_pattern: price.matchPattern,
    match_path: [...price.matchPath],
    provider: price.provider,
    start_time: price.startTime === null ? null : new Date(price.startTime / 1000).toISOString(),
    prompt_token_threshold: price.promptTokenThreshold,
    prompt_cost: price.promptCost,
    completion_cost: price.completionCost,
    prompt_cost_details: detailsOrNull(price.promptCostDetails),
    completion_cost_details: detailsOrNull(price.completionCostDetails),
  };
}

function detailsOrNull(details: Readonly<Record<string, string>>): Record<string, string> | null {
  return Object.keys(details).length === 0 ? null : { ...details };
}
