import fc from "fast-check";
import { describe, test } from "vitest";
import { amountsOf, type RunAmounts } from "../../../../src/tracing/usage/costs.ts";
import { createPriceMap } from "../../../../src/tracing/usage/price-map.ts";
import type { ModelPrice } from "../../../../src/tracing/usage/price-list.ts";
import type { Usage } from "../../../../src/tracing/model/run-write.ts";
import { model, NOON, price } from "./support/prices.ts";

const HOUSE = model("house-model");

function amounts(usage: Omit<Usage, "explicit">, own: ModelPrice = price()): RunAmounts {
  return amountsOf({ explicit: false, ...usage }, HOUSE, NOON, createPriceMap([own]));
}

function costs(usage: Omit<Usage, "explicit">, own?: ModelPrice) {
  const { promptCost, completionCost, totalCost, promptCostDetails, completionCostDetails } =
    amounts(usage, own);
  return { promptCost, completionCost, totalCost, promptCostDetails, completionCostDetails };
}

const CACHED = price({ promptCostDetails: { cache_read: "0.000001" } });

describe("amountsOf", () => {
  test("prices categories separately, and the remaining tokens at the base price", ({ expect }) => {
    const usage = { input_tokens: 20, output_tokens: 10, input_token_details: { cache_read: 5 } };
    expect(amounts(usage, CACHED)).toEqual({
      promptTokens: 20,
      completionTokens: 10,
      totalTokens: 30,
      promptCost: 35_000_000,
      completionCost: 30_000_000,
      totalCost: 65_000_000,
      promptTokenDetails: { cache_read: 5 },
      completionTokenDetails: null,
      promptCostDetails: { cache_read: 5_000_000 },
      completionCostDetails: null,
      priceModelId: "price",
    });
  });

  test("has only tokens for a model without a price", ({ expect }) => {
    const usage = { explicit: false, input_tokens: 20, output_tokens: 10 };
    expect(amountsOf(usage, model("unknown"), NOON, createPriceMap([price()]))).toEqual({
      promptTokens: 20,
      completionTokens: 10,
      totalTokens: 30,
      promptCost: null,
      completionCost: null,
      totalCost: null,
      promptTokenDetails: null,
      completionTokenDetails: null,
      promptCostDetails: null,
      completionCostDetails: null,
      priceModelId: null,
    });
  });

  test("charges the base price for categories without a price", ({ expect }) => {
    const usage = {
      input_tokens: 20,
      output_tokens: 10,
      input_token_details: { cache_read: 5, text: 15 },
      output_token_details: { reasoning: 4 },
    };
    const own = price({
      ...CACHED,
      completionCostDetails: { reasoning: "0.000005", audio: "1" },
    });
    expect(costs(usage, own)).toEqual({
      promptCost: 35_000_000,
      completionCost: 38_000_000,
      totalCost: 73_000_000,
      promptCostDetails: { cache_read: 5_000_000 },
      completionCostDetails: { reasoning: 20_000_000 },
    });
  });

  test("never has a negative number of remaining tokens", ({ expect }) => {
    const usage = { input_tokens: 3, input_token_details: { cache_read: 5 } };
    expect(costs(usage, CACHED)).toMatchObject({ promptCost: 5_000_000, totalCost: 5_000_000 });
  });

  test("counts only reported values", ({ expect }) => {
    expect(costs({ input_tokens: 2 })).toEqual({
      promptCost: 4_000_000,
      completionCost: null,
      totalCost: 4_000_000,
      promptCostDetails: null,
      completionCostDetails: null,
    });
    const { priceModelId, ...rest } = amounts({ total_tokens: 9 });
    expect(priceModelId).toBeNull();
    expect(rest).toMatchObject({ promptTokens: 0, totalTokens: 9, totalCost: null });
  });

  test.for([
    [{ input_tokens: 3, output_tokens: 4, total_tokens: 10 }, 10],
    [{ input_tokens: 3, output_tokens: 4, total_tokens: 0 }, 7],
    [{ input_tokens: 3, output_tokens: 4 }, 7],
    [{}, 0],
  ] as const)("has for %j the total of %s tokens", ([usage, total], { expect }) => {
    expect(amounts(usage).totalTokens).toBe(total);
  });

  test("rounds once, half away from zero", ({ expect }) => {
    const own = price({
      promptCost: "0.0000000000001",
      completionCost: "0.00000000000025",
      promptCostDetails: { cache_read: "0.0000000000002" },
    });
    const usage = {
      input_tokens: 4,
      output_tokens: 2,
      input_token_details: { cache_read: 1 },
    };
    expect(costs(usage, own)).toEqual({
      promptCost: 1,
      completionCost: 1,
      totalCost: 2,
      promptCostDetails: { cache_read: 0 },
      completionCostDetails: null,
    });
  });

  test("has no cost that a number cannot represent", ({ expect }) => {
    const own = price({ promptCost: "1000", completionCost: "0.000001" });
    expect(costs({ input_tokens: 10, output_tokens: 1 }, own)).toMatchObject({
      promptCost: null,
      completionCost: 1_000_000,
    });
  });
});

describe("reported costs", () => {
  test("take precedence over computed ones", ({ expect }) => {
    const usage = { input_tokens: 20, output_tokens: 10, input_cost: 0.5 };
    expect(amounts(usage)).toMatchObject({
      promptCost: 500_000_000_000,
      completionCost: 30_000_000,
      totalCost: 500_030_000_000,
      priceModelId: "price",
    });
    expect(amounts({ ...usage, output_cost: 0.25, total_cost: 1 })).toMatchObject({
      promptCost: 500_000_000_000,
      completionCost: 250_000_000_000,
      totalCost: 1_000_000_000_000,
      priceModelId: null,
    });
  });

  test("can be only a total, which no price splits", ({ expect }) => {
    expect(amounts({ input_tokens: 20, output_tokens: 10, total_cost: 0.1 })).toMatchObject({
      promptCost: null,
      completionCost: null,
      totalCost: 100_000_000_000,
      priceModelId: null,
    });
  });

  test("of categories are added to the sum, and replace the price of their tokens", ({
    expect,
  }) => {
    const usage = {
      input_tokens: 20,
      input_token_details: { cache_read: 5, audio: 10 },
      input_cost_details: { audio: 0.000_1, search: 0.01 },
    };
    expect(costs(usage, CACHED)).toEqual({
      promptCost: 100_000_000 + 10_000_000_000 + 5_000_000 + 5 * 2_000_000,
      completionCost: null,
      totalCost: 10_115_000_000,
      promptCostDetails: { audio: 100_000_000, search: 10_000_000_000, cache_read: 5_000_000 },
      completionCostDetails: null,
    });
  });

  test("need no price", ({ expect }) => {
    const usage = { explicit: true, input_cost_details: { search: 0.01 }, output_cost: 0.02 };
    expect(amountsOf(usage, model("unknown"), NOON, createPriceMap([]))).toMatchObject({
      promptTokens: 0,
      promptCost: 10_000_000_000,
      completionCost: 20_000_000_000,
      totalCost: 30_000_000_000,
      promptCostDetails: { search: 10_000_000_000 },
      completionCostDetails: null,
    });
  });
});

/** Generates a price, and its value as a fraction over 10^20. */
const somePrice = fc
  .bigInt({ min: 0n, max: 10n ** 16n })
  .map((units) => ({ units, text: `0.${String(units).padStart(20, "0")}` }));

const someTokens = fc.nat({ max: 1_000_000 });

test("computed costs are exact, and rounded once", ({ expect }) => {
  fc.assert(
    fc.property(
      someTokens,
      fc.dictionary(fc.constantFrom("a", "b", "c"), someTokens),
      somePrice,
      fc.dictionary(fc.constantFrom("a", "b", "d"), somePrice),
      (rest, categories, base, categoryPrices) => {
        const details = Object.entries(categories);
        const tokens = details.reduce((sum, [, count]) => sum + count, rest);
        const texts = Object.entries(categoryPrices).map(([name, { text }]) => [name, text]);
        const own = price({ promptCost: base.text, promptCostDetails: Object.fromEntries(texts) });
        let exact = BigInt(rest) * base.units;
        for (const [name, count] of details) {
          exact += BigInt(count) * (categoryPrices[name] ?? base).units;
        }
        // The values are over 10^20, of which a picodollar is 10^8.
        const half = 5n * 10n ** 7n;
        const rounded = Number((exact + half) / 10n ** 8n);
        const usage = {
          input_tokens: tokens,
          ...(details.length === 0 ? {} : { input_token_details: categories }),
        };
        const { promptCost, promptCostDetails } = amounts(usage, own);
        expect(promptCost).toBe(Number.isSafeInteger(rounded) ? rounded : null);
        const priced = details.filter(([name]) => name in categoryPrices).map(([name]) => name);
        expect(Object.keys(promptCostDetails ?? {}).toSorted()).toEqual(priced.toSorted());
      },
    ),
  );
});
