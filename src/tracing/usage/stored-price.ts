import type { ModelPriceRow } from "../../db/model-prices-repo.ts";
import type { ModelPrice } from "./price-list.ts";

/** A workspace's own price, of its row. */
export function toModelPrice(row: ModelPriceRow): ModelPrice {
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
