import { isObject } from "../../lib/json.ts";
import { providerUsage, sumUsage, usageMetadata } from "./reported-usage.ts";
import type { Usage } from "../model/run-write.ts";

/**
 * Tokens and costs that a run's outputs report, in any of the shapes that SDKs write; null when they
 * report none. Numbers that make no sense count as not given. Only `usage_metadata` at the top says
 * what any run consumed; the rest is what a model answered, perhaps in a run around the model's.
 */
export function usageOf(outputs: unknown): Usage | null {
  if (!isObject(outputs)) return null;
  return (
    usageMetadata(outputs["usage_metadata"], true) ??
    ofGenerations(outputs["generations"]) ??
    ofModelOutput(outputs["llm_output"] ?? outputs["llmOutput"]) ??
    ofMessage(outputs) ??
    ofMessage(onlyItem(outputs["message"])) ??
    ofMessage(onlyItem(outputs["messages"])) ??
    ofMessage(onlyItem(outputs["output"])) ??
    ofMessage(onlyItem(outputs["outputs"])) ??
    ofChoice(onlyItem(outputs["choices"]))
  );
}

/** What a run's `extra.metadata` reports. */
export function usageOfExtra(extra: unknown): Usage | null {
  if (!isObject(extra)) return null;
  const metadata = extra["metadata"];
  return isObject(metadata) ? usageMetadata(metadata["usage_metadata"], true) : null;
}

/** A list for each prompt; some SDKs send the list of the only prompt. */
function ofGenerations(value: unknown): Usage | null {
  if (!Array.isArray(value)) return null;
  let sum: Usage | null = null;
  for (const generation of value.flat() as unknown[]) {
    if (!isObject(generation)) continue;
    const usage = ofMessage(generation["message"]);
    if (usage !== null) sum = sum === null ? usage : sumUsage(sum, usage);
  }
  return sum;
}

/** Plain, as LangChain serialises it, or as it stores it. */
function ofMessage(value: unknown): Usage | null {
  if (!isObject(value)) return null;
  return ofPlainMessage(value) ?? ofPlainMessage(value["kwargs"]) ?? ofPlainMessage(value["data"]);
}

function ofPlainMessage(value: unknown): Usage | null {
  if (!isObject(value)) return null;
  return (
    usageMetadata(value["usage_metadata"], false) ??
    providerUsage(value["usage"]) ??
    ofModelOutput(value["response_metadata"])
  );
}

function ofModelOutput(value: unknown): Usage | null {
  if (!isObject(value)) return null;
  return (
    providerUsage(value["tokenUsage"]) ??
    providerUsage(value["token_usage"]) ??
    providerUsage(value["usage"])
  );
}

function ofChoice(value: unknown): Usage | null {
  if (!isObject(value)) return null;
  return ofPlainMessage(value) ?? ofMessage(value["message"]);
}

/** Nobody can tell which of several messages the run made. */
function onlyItem(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  return value.length === 1 ? value[0] : undefined;
}
