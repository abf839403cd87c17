import type { ModelPriceFields } from "../../../../db/model-prices-repo.ts";
import type { ModelPrice } from "../../../usage/price-list.ts";
import { DEFAULT_MATCH_PATH } from "../../../usage/run-model.ts";
import type { ModelPriceBody, ModelPriceJson } from "./schemas.ts";

/** A price as the API shows it; `tenantId` is null for a built-in one. */
export function toModelPriceJson(price: ModelPrice, tenantId: string | null): ModelPriceJson {
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

/** What the body leaves out gets its default. */
export function toModelPriceFields(body: ModelPriceBody): ModelPriceFields {
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
