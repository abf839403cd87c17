import { builtInPriceList } from "./built-in-prices.ts";
import { compileNamePattern, type NamePattern, PatternError } from "./name-pattern.ts";
import { type ModelPrice, PriceList, type RateCard } from "./price-list.ts";
import type { RunModel } from "./run-model.ts";

/** A workspace's own prices and the built-in ones. */
export type PriceMap = { own: PriceList; builtIn: PriceList };

/** Creates a price map. `own` must have the newest entry first: among equals, the first counts. */
export function createPriceMap(own: readonly ModelPrice[]): PriceMap {
  return {
    own: new PriceList(own.toSorted(byPrecedence), { compile: storedPattern }),
    builtIn: builtInPriceList(),
  };
}

/**
 * Returns the price of a run that started at a time: own prices come before built-in ones, and among the own prices
 * the latest one in force counts. Null for models without a price.
 */
export function selectPrice(
  prices: PriceMap,
  model: RunModel,
  startTime: number,
  promptTokens: number,
): RateCard | null {
  const inForce = (card: RateCard): boolean =>
    (card.startTime ?? 0) <= startTime && promptTokens > (card.promptTokenThreshold ?? -1);
  return prices.own.find(model).find(inForce) ?? prices.builtIn.find(model).find(inForce) ?? null;
}

function byPrecedence(left: ModelPrice, right: ModelPrice): number {
  const later = (right.startTime ?? -1) - (left.startTime ?? -1);
  if (later !== 0) return later;
  return Number(right.provider !== null) - Number(left.provider !== null);
}

/** Compiles a pattern that was checked when it was stored. One that is no longer accepted matches no model. */
function storedPattern(source: string): NamePattern {
  try {
    return compileNamePattern(source);
  } catch (error) {
    if (error instanceof PatternError) return { matches: () => false };
    throw error;
  }
}
