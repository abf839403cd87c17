import { describe, test } from "vitest";
import { builtInPrices } from "../../../../src/tracing/usage/built-in-prices.ts";
import { parseDecimal } from "../../../../src/tracing/usage/money.ts";
import { compileNamePattern } from "../../../../src/tracing/usage/name-pattern.ts";
import { createPriceMap, selectPrice } from "../../../../src/tracing/usage/price-map.ts";
import type { ModelPrice } from "../../../../src/tracing/usage/price-list.ts";
import { model, NOON } from "./support/prices.ts";

const prices = createPriceMap([]);

function found(
  name: string,
  provider: string,
  { at = NOON, tokens = 0 }: { at?: number; tokens?: number } = {},
): ModelPrice | undefined {
  const card = selectPrice(prices, model(name, provider), at, tokens);
  return builtInPrices().find(({ id }) => id === card?.id);
}

describe("built-in prices", () => {
  test("have these values for GPT-4o", ({ expect }) => {
    expect(found("gpt-4o-2024-08-06", "openai")).toEqual({
      id: "fbedb0c6-99bb-5420-afb1-a92d0bb0d2b6",
      name: "gpt-4o",
      matchPattern: "(?i)^(?:openai/)?(?:gpt-4o|gpt-4o-2024-08-06|gpt-4o-2024-11-20)$",
      matchPath: ["model", "model_name", "model_id", "model_path", "endpoint_name"],
      provider: null,
      startTime: null,
      promptTokenThreshold: null,
      promptCost: "0.0000025",
      completionCost: "0.00001",
      promptCostDetails: { cache_read: "0.00000125" },
      completionCostDetails: {},
    });
  });

  test.for([
    ["gpt-4o-mini", "openai", "0.00000015"],
    ["openai/gpt-4o-mini", "openai", "0.00000015"],
    ["GPT-4o-mini", "azure", "0.00000015"],
    ["claude-sonnet-4-5-20250929", "anthropic", "0.000003"],
    ["claude-sonnet-4-5@20250929", "google_vertexai", "0.000003"],
    ["models/gemini-2.5-pro", "google_genai", "0.00000125"],
    ["text-embedding-3-small", "openai", "0.00000002"],
    ["llama-3.3-70b-versatile", "groq", "0.00000059"],
    ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", "amazon_bedrock", "0.0000033"],
    ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", "aws.bedrock", "0.0000033"],
    ["anthropic/claude-sonnet-4.5", "openrouter", "0.000003"],
    ["deepseek-chat", "openai", "0.00000027"],
  ] as const)(
    "have for %s through %s the rate %s for a prompt token",
    ([name, provider, cost], { expect }) => {
      expect(found(name, provider)?.promptCost).toBe(cost);
    },
  );

  test.for([
    ["house-model", "openai"],
    ["llama-3.3-70b-versatile", "openai"],
    // Providers that host other vendors' weights have their own prices, or none.
    ["deepseek-r1:7b", "ollama"],
    ["mixtral-8x7b-unheard-of", "groq"],
  ] as const)("have none for %s through %s", ([name, provider], { expect }) => {
    expect(found(name, provider)).toBeUndefined();
  });

  test("depend on the length of the prompt", ({ expect }) => {
    const prices = (tokens: number) => {
      const price = found("gemini-2.5-pro", "google", { tokens });
      return { base: price?.promptCost, ...price?.promptCostDetails };
    };
    const short = {
      base: "0.00000125",
      cache_read: "0.000000125",
      cache_read_over_200k: "0.000000125",
    };
    const long = {
      base: "0.0000025",
      cache_read: "0.00000025",
      cache_read_over_200k: "0.00000025",
    };
    expect([0, 200_000, 200_001].map(prices)).toEqual([short, short, long]);
  });

  test("depend on when the run started", ({ expect }) => {
    const cost = (day: string) => found("o3", "openai", { at: Date.parse(day) * 1000 })?.promptCost;
    expect(["2025-06-09T23:59:59.999Z", "2025-06-10"].map(cost)).toEqual(["0.00001", "0.000002"]);
  });

  test("cover every lifetime of a cache entry that the vendor prices", ({ expect }) => {
    expect(found("claude-sonnet-4-5", "anthropic")?.promptCostDetails).toEqual({
      cache_read: "0.0000003",
      cache_creation: "0.00000375",
      ephemeral_5m_input_tokens: "0.00000375",
      ephemeral_1h_input_tokens: "0.000006",
      ephemeral_1hr_input_tokens: "0.000006",
    });
  });

  test("have unique ids, and decimal numbers", ({ expect }) => {
    const all = builtInPrices();
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    const numbers = all.flatMap(({ promptCostDetails, completionCostDetails, ...price }) =>
      [price.promptCost, price.completionCost].concat(
        Object.values(promptCostDetails),
        Object.values(completionCostDetails),
      ),
    );
    expect(numbers.filter((number) => parseDecimal(number) === null)).toEqual([]);
    expect(numbers.filter((number) => Number(number) > 0.01)).toEqual([]);
  });

  test("have patterns that own prices accept, with the same matches", ({ expect }) => {
    const names = builtInPrices().map(({ name }) => name);
    const sample = names.filter((_, index) => index % 20 === 0);
    for (const pattern of new Set(builtInPrices().map(({ matchPattern }) => matchPattern))) {
      const own = compileNamePattern(pattern);
      const native = new RegExp(pattern.slice("(?i)".length), "i");
      const differing = sample.filter((name) => own.matches(name) !== native.test(name));
      expect([pattern, differing]).toEqual([pattern, []]);
    }
  });
});
