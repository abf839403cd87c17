import { parseDecimal, toUnits } from "./money.ts";
import type { NamePattern } from "./name-pattern.ts";
import { nameAt, type RunModel } from "./run-model.ts";

/** The price of a model. Amounts are decimal texts, in USD per token. */
export type ModelPrice = {
  id: string;
  name: string;
  matchPattern: string;
  matchPath: readonly string[];
  /** Null if the price applies to any provider. */
  provider: string | null;
  /** Microseconds; the price does not apply to runs that started earlier. Null if it applies to runs of any time. */
  startTime: number | null;
  /** The price applies to runs with more prompt tokens than this. Null if it applies to all runs. */
  promptTokenThreshold: number | null;
  promptCost: string;
  completionCost: string;
  promptCostDetails: Readonly<Record<string, string>>;
  completionCostDetails: Readonly<Record<string, string>>;
};

/** The significant decimals of a price: it is exact in units of 1e-30 USD. */
export const PRICE_DECIMALS = 30;

/** In units of 1e-30 USD per token; details are categories of tokens with their own price. */
export type Rates = { base: bigint; details: ReadonlyMap<string, bigint> };

export type RateCard = Pick<ModelPrice, "id" | "startTime" | "promptTokenThreshold"> & {
  prompt: Rates;
  completion: Rates;
};

type Options = {
  compile: (pattern: string) => NamePattern;
  /** Maps other names of providers to the names that prices use. */
  aliases?: ReadonlyMap<string, string>;
  /** Providers whose models only have the prices that name the provider. */
  hosts?: ReadonlySet<string>;
};

/** Maximum number of distinct models in the cache. */
const MAX_FOUND = 2000;

/** Prices in the order in which they are tried. Which of them fit a model is determined only once. */
export class PriceList {
  readonly #prices: readonly ModelPrice[];
  readonly #compile: Options["compile"];
  readonly #aliases: ReadonlyMap<string, string>;
  readonly #hosts: ReadonlySet<string>;
  readonly #paths: readonly string[];
  readonly #patterns = new Map<ModelPrice, NamePattern>();
  readonly #found = new Map<string, readonly RateCard[]>();

  constructor(prices: readonly ModelPrice[], { compile, aliases, hosts }: Options) {
    this.#prices = prices;
    this.#compile = compile;
    this.#aliases = aliases ?? new Map();
    this.#hosts = hosts ?? new Set();
    this.#paths = [...new Set(prices.flatMap(({ matchPath }) => matchPath))];
  }

  /** Returns all prices that fit the model, of any time. */
  find(model: RunModel): readonly RateCard[] {
    const provider = this.#providerOf(model);
    const names = this.#paths.map((key) => nameAt(model.fields, [key]));
    const key = JSON.stringify([provider, ...names]);
    const known = this.#found.get(key);
    if (known !== undefined) return known;
    const fitting = this.#prices
      .filter((price) => this.#fits(price, model, provider))
      .map(toRateCard);
    if (this.#found.size >= MAX_FOUND) this.#found.clear();
    this.#found.set(key, fitting);
    return fitting;
  }

  #fits(price: ModelPrice, model: RunModel, provider: string | null): boolean {
    if (price.provider === null) {
      if (provider !== null && this.#hosts.has(provider)) return false;
    } else if (price.provider.toLowerCase() !== provider) {
      return false;
    }
    const name = nameAt(model.fields, price.matchPath);
    return name !== null && this.#patternOf(price).matches(name);
  }

  #patternOf(price: ModelPrice): NamePattern {
    const known = this.#patterns.get(price);
    if (known !== undefined) return known;
    const pattern = this.#compile(price.matchPattern);
    this.#patterns.set(price, pattern);
    return pattern;
  }

  #providerOf(model: RunModel): string | null {
    const provider = model.provider?.toLowerCase() ?? null;
    return provider === null ? null : (this.#aliases.get(provider) ?? provider);
  }
}

function toRateCard(price: ModelPrice): RateCard {
  return {
    id: price.id,
    startTime: price.startTime,
    promptTokenThreshold: price.promptTokenThreshold,
    prompt: toRates(price.promptCost, price.promptCostDetails),
    completion: toRates(price.completionCost, price.completionCostDetails),
  };
}

function toRates(base: string, details: Readonly<Record<string, string>>): Rates {
  return {
    base: toRate(base),
    details: new Map(Object.entries(details).map(([name, price]) => [name, toRate(price)])),
  };
}

function toRate(price: string): bigint {
  const decimal = parseDecimal(price);
  if (decimal === null) throw new Error(`${price} is no price`);
  return toUnits(decimal, PRICE_DECIMALS);
}
