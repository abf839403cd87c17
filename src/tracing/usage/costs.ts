import { COST_DECIMALS, divideRounded, parseCost, toSafeNumber } from "./money.ts";
import { PRICE_DECIMALS, type RateCard, type Rates } from "./price-list.ts";
import { type PriceMap, selectPrice } from "./price-map.ts";
import type { RunModel } from "./run-model.ts";
import type { Usage } from "../model/run-write.ts";

export { formatCost } from "./money.ts";
export type { PriceMap } from "./price-map.ts";
export { modelOf } from "./run-model.ts";

/** What a run consumed itself. Costs are whole picodollars (1e-12 USD), or null if not known. */
export type RunAmounts = {
  promptTokens: number;
  completionTokens: number;
  totalTokens: number;
  promptCost: number | null;
  completionCost: number | null;
  totalCost: number | null;
  promptTokenDetails: Record<string, number> | null;
  completionTokenDetails: Record<string, number> | null;
  promptCostDetails: Record<string, number> | null;
  completionCostDetails: Record<string, number> | null;
  /** The id of the price from which a cost was computed. */
  priceModelId: string | null;
};

/** The part of a usage that concerns the prompt or the completion. */
type CostPart = {
  tokens: number | undefined;
  tokenDetails: Record<string, number>;
  cost: number | undefined;
  costDetails: Record<string, number>;
};

type PartCost = { cost: number | null; details: Record<string, number> | null; priced: boolean };

const NO_COST: PartCost = { cost: null, details: null, priced: false };

/** A picodollar in the units of a price. */
const UNITS_PER_PICODOLLAR = 10n ** BigInt(PRICE_DECIMALS - COST_DECIMALS);

/**
 * Returns tokens as they were reported, and costs: those that were reported, else those computed from the prices,
 * else null. Amounts are exact except for one rounding of each, half away from zero. `startTime` of the run is in
 * microseconds.
 */
export function amountsOf(
  usage: Usage,
  model: RunModel,
  startTime: number,
  prices: PriceMap,
): RunAmounts {
  const { input_tokens: input, output_tokens: output } = usage;
  const card = selectPrice(prices, model, startTime, input ?? 0);
  const { prompt, completion } = partCosts(usage, card);
  const total =
    usage.total_cost === undefined
      ? addCosts(prompt.cost, completion.cost)
      : parseCost(usage.total_cost);
  return {
    promptTokens: input ?? 0,
    completionTokens: output ?? 0,
    // Some clients send a total of 0 if they do not know it.
    totalTokens: usage.total_tokens || (input ?? 0) + (output ?? 0),
    promptCost: prompt.cost,
    completionCost: completion.cost,
    totalCost: total,
    promptTokenDetails: usage.input_token_details ?? null,
    completionTokenDetails: usage.output_token_details ?? null,
    promptCostDetails: prompt.details,
    completionCostDetails: completion.details,
    priceModelId: prompt.priced || completion.priced ? (card?.id ?? null) : null,
  };
}

function partCosts(
  usage: Usage,
  card: RateCard | null,
): { prompt: PartCost; completion: PartCost } {
  const prompt: CostPart = {
    tokens: usage.input_tokens,
    tokenDetails: usage.input_token_details ?? {},
    cost: usage.input_cost,
    costDetails: usage.input_cost_details ?? {},
  };
  const completion: CostPart = {
    tokens: usage.output_tokens,
    tokenDetails: usage.output_token_details ?? {},
    cost: usage.output_cost,
    costDetails: usage.output_cost_details ?? {},
  };
  // Prices must not split a reported total: the parts would not add up to it.
  const onlyTotal =
    usage.total_cost !== undefined && !hasReportedCost(prompt) && !hasReportedCost(completion);
  if (onlyTotal) return { prompt: NO_COST, completion: NO_COST };
  return {
    prompt: partCost(prompt, card?.prompt ?? null),
    completion: partCost(completion, card?.completion ?? null),
  };
}

function hasReportedCost({ cost, costDetails }: CostPart): boolean {
  return cost !== undefined || Object.keys(costDetails).length > 0;
}

/** Prices every category at its own rate, or at its reported cost, and the remaining tokens at the base rate. */
function partCost(part: CostPart, rates: Rates | null): PartCost {
  const costs = new Map<string, bigint>();
  for (const [name, dollars] of Object.entries(part.costDetails)) {
    const cost = parseCost(dollars);
    if (cost !== null) costs.set(name, BigInt(cost) * UNITS_PER_PICODOLLAR);
  }
  if (part.cost !== undefined) {
    return { cost: parseCost(part.cost), details: toDetails(costs), priced: false };
  }
  const priced = rates !== null && part.tokens !== undefined;
  if (!priced && costs.size === 0) return NO_COST;
  let remaining = part.tokens ?? 0;
  for (const [name, tokens] of Object.entries(part.tokenDetails)) {
    const rate = priced ? rates.details.get(name) : undefined;
    if (costs.has(name)) {
      remaining -= tokens;
    } else if (rate !== undefined) {
      remaining -= tokens;
      costs.set(name, BigInt(tokens) * rate);
    }
  }
  let sum = priced ? BigInt(Math.max(0, remaining)) * rates.base : 0n;
  for (const cost of costs.values()) sum += cost;
  return { cost: toPicodollars(sum), details: toDetails(costs), priced };
}

function toDetails(costs: ReadonlyMap<string, bigint>): Record<string, number> | null {
  const details: [string, number][] = [];
  for (const [name, units] of costs) {
    const cost = toPicodollars(units);
    if (cost !== null) details.push([name, cost]);
  }
  return details.length === 0 ? null : Object.fromEntries(details);
}

function toPicodollars(units: bigint): number | null {
  return toSafeNumber(divideRounded(units, UNITS_PER_PICODOLLAR));
}

function addCosts(left: number | null, right: number | null): number | null {
  if (left === null || right === null) return left ?? right;
  const sum = left + right;
  return Number.isSafeInteger(sum) ? sum : null;
}
