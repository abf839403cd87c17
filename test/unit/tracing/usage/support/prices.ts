import type { ModelPrice } from "../../../../../src/tracing/usage/price-list.ts";
import { modelOf, type RunModel } from "../../../../../src/tracing/usage/run-model.ts";

/** Microseconds since the epoch. */
export const NOON = Date.parse("2026-08-01T12:00:00Z") * 1000;

/** Returns the price of a model for which there is no built-in price. */
export function price(fields: Partial<ModelPrice> = {}): ModelPrice {
  return {
    id: "price",
    name: "House model",
    matchPattern: "^house-model$",
    matchPath: ["model", "model_name"],
    provider: null,
    startTime: null,
    promptTokenThreshold: null,
    promptCost: "0.000002",
    completionCost: "0.000003",
    promptCostDetails: {},
    completionCostDetails: {},
    ...fields,
  };
}

export function model(name: string, provider?: string): RunModel {
  return modelOf({ metadata: { ls_model_name: name, ls_provider: provider } });
}
