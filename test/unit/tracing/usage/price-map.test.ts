import { describe, test } from "vitest";
import { createPriceMap, selectPrice } from "../../../../src/tracing/usage/price-map.ts";
import type { ModelPrice } from "../../../../src/tracing/usage/price-list.ts";
import { modelOf, type RunModel } from "../../../../src/tracing/usage/run-model.ts";
import { model, NOON, price } from "./support/prices.ts";

const HOUSE = model("house-model");
const DAY = 86_400_000_000;

function selected(
  own: readonly ModelPrice[],
  asked: RunModel,
  { at = NOON, tokens = 0 }: { at?: number; tokens?: number } = {},
): string | null {
  return selectPrice(createPriceMap(own), asked, at, tokens)?.id ?? null;
}

describe("selectPrice", () => {
  test("returns none for a model without a price", ({ expect }) => {
    expect(selected([], HOUSE)).toBeNull();
    expect(selected([price()], model("other-model"))).toBeNull();
    expect(selected([price({ matchPattern: "" })], modelOf({}))).toBeNull();
  });

  test("returns rates in units of 1e-30 USD", ({ expect }) => {
    const own = price({
      promptCostDetails: { cache_read: "0.000000000000000000000000000001" },
      completionCostDetails: { reasoning: "1000" },
    });
    expect(selectPrice(createPriceMap([own]), HOUSE, NOON, 0)).toEqual({
      id: "price",
      startTime: null,
      promptTokenThreshold: null,
      prompt: { base: 2n * 10n ** 24n, details: new Map([["cache_read", 1n]]) },
      completion: { base: 3n * 10n ** 24n, details: new Map([["reasoning", 10n ** 33n]]) },
    });
  });

  test("prefers an own price to a built-in one", ({ expect }) => {
    const own = price({ matchPattern: "^gpt-4o$" });
    const builtIn = selected([], model("gpt-4o", "openai"));
    expect(builtIn).not.toBeNull();
    expect(selected([own], model("gpt-4o", "openai"))).toBe("price");
    expect(selected([{ ...own, startTime: NOON + 1 }], model("gpt-4o", "openai"))).toBe(builtIn);
  });

  test("compares the provider if the price names one", ({ expect }) => {
    const own = [price({ provider: "openai" })];
    expect(selected(own, model("house-model", "openai"))).toBe("price");
    expect(selected(own, model("house-model", "OpenAI"))).toBe("price");
    expect(selected(own, model("house-model", "azure"))).toBeNull();
    expect(selected(own, HOUSE)).toBeNull();
  });

  test("selects the latest price that was in force", ({ expect }) => {
    const own = [
      price({ id: "always" }),
      price({ id: "tomorrow", startTime: NOON + DAY }),
      price({ id: "now", startTime: NOON }),
      price({ id: "yesterday", startTime: NOON - DAY }),
    ];
    const at = (time: number) => selected(own, HOUSE, { at: time });
    expect(at(0)).toBe("always");
    expect(at(NOON - DAY - 1)).toBe("always");
    expect(at(NOON - 1)).toBe("yesterday");
    expect(at(NOON)).toBe("now");
    expect(at(NOON + DAY)).toBe("tomorrow");
  });

  test("prefers the provider's price, then the first, among those in force since the same time", ({
    expect,
  }) => {
    const own = [
      price({ id: "newest" }),
      price({ id: "for openai", provider: "openai" }),
      price({ id: "older" }),
    ];
    expect(selected(own, model("house-model", "openai"))).toBe("for openai");
    expect(selected(own, HOUSE)).toBe("newest");
  });

  test("reads the name at the path of the price", ({ expect }) => {
    const own = [price({ matchPath: ["deployment", "model"], matchPattern: "^ours$" })];
    const asked = (deployment: string) =>
      modelOf({ invocation_params: { deployment }, metadata: { ls_model_name: "ours" } });
    expect(selected(own, asked("ours"))).toBe("price");
    expect(selected(own, asked("theirs"))).toBeNull();
    expect(selected(own, model("ours"))).toBe("price");
  });

  test("caches models separately if they differ where a price looks", ({ expect }) => {
    const prices = createPriceMap([
      price({ id: "a", matchPath: ["deployment"], matchPattern: "^a$" }),
      price({ id: "b", matchPath: ["deployment"], matchPattern: "^b$", provider: "x" }),
    ]);
    const ask = (deployment: string, provider: string) => {
      const extra = { invocation_params: { deployment }, metadata: { ls_provider: provider } };
      return selectPrice(prices, modelOf(extra), NOON, 0)?.id ?? null;
    };
    for (let round = 0; round < 2; round += 1) {
      expect(ask("a", "x")).toBe("a");
      expect(ask("b", "x")).toBe("b");
      expect(ask("b", "y")).toBeNull();
      expect(ask("c", "x")).toBeNull();
    }
  });

  test("skips a stored pattern that is no longer accepted", ({ expect }) => {
    expect(selected([price({ matchPattern: "(" }), price({ id: "next" })], HOUSE)).toBe("next");
  });
});
