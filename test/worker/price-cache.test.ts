import { env } from "cloudflare:workers";
import { beforeAll, inject, test, vi } from "vitest";
import {
  deleteModelPrice,
  insertModelPrice,
  listModelPrices,
  type ModelPriceRow,
  updateModelPrice,
} from "../../src/db/model-prices-repo.ts";
import { type PriceMap, selectPrice } from "../../src/tracing/usage/price-map.ts";
import { forgetPrices, loadPrices } from "../../src/tracing/usage/workspace-prices.ts";
import { model, NOON } from "../unit/tracing/usage/support/prices.ts";
import { migrateIndex } from "./support.ts";

beforeAll(() => migrateIndex(inject("migrations")));

function row(workspaceId: string, fields: Partial<ModelPriceRow> = {}): ModelPriceRow {
  return {
    id: crypto.randomUUID(),
    workspace_id: workspaceId,
    name: "House model",
    match_pattern: "^house-model$",
    match_path: '["model"]',
    provider: null,
    start_time: NOON / 1000,
    prompt_cost: "0.000002",
    completion_cost: "0.000003",
    prompt_cost_details: '{"cache_read":"0.000001"}',
    completion_cost_details: null,
    created_at: 0,
    ...fields,
  };
}

function selected(prices: PriceMap, at = NOON): string | null {
  return selectPrice(prices, model("house-model"), at, 0)?.id ?? null;
}

test("the cache gives a workspace its own prices", async ({ expect }) => {
  const workspaceId = crypto.randomUUID();
  const { id, ...fields } = row(workspaceId);
  await insertModelPrice(env.DB, { id, ...fields });
  const prices = await loadPrices(env.DB, workspaceId);
  expect(selected(prices, NOON - 1)).toBeNull();
  expect(selectPrice(prices, model("house-model"), NOON, 0)).toEqual({
    id,
    startTime: NOON,
    promptTokenThreshold: null,
    prompt: { base: 2n * 10n ** 24n, details: new Map([["cache_read", 10n ** 24n]]) },
    completion: { base: 3n * 10n ** 24n, details: new Map() },
  });
  expect(selected(await loadPrices(env.DB, crypto.randomUUID()))).toBeNull();
});

test("the newest of equal prices is used", async ({ expect }) => {
  const workspaceId = crypto.randomUUID();
  const older = row(workspaceId, { created_at: 1 });
  const newer = row(workspaceId, { created_at: 2 });
  for (const each of [older, newer]) await insertModelPrice(env.DB, each);
  expect(await listModelPrices(env.DB, workspaceId)).toEqual([newer, older]);
  expect(selected(await loadPrices(env.DB, workspaceId))).toBe(newer.id);
});

test("prices are read again after 30 seconds, or when they were changed", async ({ expect }) => {
  const workspaceId = crypto.randomUUID();
  const now = vi.spyOn(Date, "now").mockReturnValue(1_000_000);
  const first = await loadPrices(env.DB, workspaceId);
  const added = row(workspaceId);
  await insertModelPrice(env.DB, added);
  now.mockReturnValue(1_030_000);
  expect(await loadPrices(env.DB, workspaceId)).toBe(first);
  now.mockReturnValue(1_030_001);
  expect(selected(await loadPrices(env.DB, workspaceId))).toBe(added.id);
  await deleteModelPrice(env.DB, workspaceId, added.id);
  expect(selected(await loadPrices(env.DB, workspaceId))).toBe(added.id);
  forgetPrices(workspaceId);
  expect(selected(await loadPrices(env.DB, workspaceId))).toBeNull();
  now.mockRestore();
});

test("another workspace's price is neither changed nor deleted", async ({ expect }) => {
  const [ours, theirs] = [crypto.randomUUID(), crypto.randomUUID()];
  const price = row(theirs);
  await insertModelPrice(env.DB, price);
  const { id, workspace_id: _1, created_at: _2, ...fields } = price;
  expect(await updateModelPrice(env.DB, ours, id, { ...fields, name: "x" })).toBeUndefined();
  await deleteModelPrice(env.DB, ours, id);
  expect(await listModelPrices(env.DB, theirs)).toEqual([price]);
});
