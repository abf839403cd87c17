import { isObject, type JsonObject, objectOrEmpty } from "../../lib/json.ts";
import type { Usage } from "../model/run-write.ts";
import { parseCost } from "./money.ts";

/**
 * Returns the tokens and costs that a run's outputs report, in any of the shapes that SDKs write; null if they report
 * none. Invalid numbers are ignored. Only `usage_metadata` at the top level says what the run itself consumed,
 * whatever its type; the rest is a model's response, perhaps in a run around that of the model.
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

/** Returns the usage that a run's `extra.metadata` reports. */
export function usageOfExtra(extra: unknown): Usage | null {
  if (!isObject(extra)) return null;
  const metadata = extra["metadata"];
  return isObject(metadata) ? usageMetadata(metadata["usage_metadata"], true) : null;
}

/** Accepts one list per prompt; some SDKs send the list of the only prompt directly. */
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

/** Accepts a plain message, or one as LangChain serialises it (`kwargs`) or stores it (`data`). */
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

/** Returns the only item: of several messages, it is not known which one the run made. */
function onlyItem(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  return value.length === 1 ? value[0] : undefined;
}

/** Maximum plausible number of tokens: larger ones are a mistake, and sums of them would not be exact. */
const MAX_TOKENS = 1e12;

/** Maximum number of categories of one breakdown. */
const MAX_DETAILS = 50;

/** Reads the format that SDKs have agreed on for messages. Null if it has no usable number. */
function usageMetadata(value: unknown, explicit: boolean): Usage | null {
  if (!isObject(value)) return null;
  return toUsage(explicit, {
    input_tokens: toTokens(value["input_tokens"]),
    output_tokens: toTokens(value["output_tokens"]),
    total_tokens: toTokens(value["total_tokens"]),
    input_token_details: toDetails(value["input_token_details"], toTokens),
    output_token_details: toDetails(value["output_token_details"], toTokens),
    input_cost: toCost(value["input_cost"]),
    output_cost: toCost(value["output_cost"]),
    total_cost: toCost(value["total_cost"]),
    input_cost_details: toDetails(value["input_cost_details"], toCost),
    output_cost_details: toDetails(value["output_cost_details"], toCost),
  });
}

/** Reads the formats of providers' APIs, or what a library made of them. */
function providerUsage(value: unknown): Usage | null {
  if (!isObject(value)) return null;
  const input = anyOf(value, ["input_tokens", "prompt_tokens", "inputTokens", "promptTokens"]);
  const output = anyOf(value, [
    "output_tokens",
    "completion_tokens",
    "outputTokens",
    "completionTokens",
  ]);
  const cache = cacheTokens(value);
  // Anthropic counts cache tokens beside its input tokens; APIs with "prompt tokens" include them.
  const isApart = value["prompt_tokens"] === undefined;
  const apart = isApart ? Object.values(cache).reduce((sum, tokens) => sum + tokens, 0) : 0;
  return toUsage(false, {
    input_tokens: apart === 0 ? input : (input ?? 0) + apart,
    output_tokens: output,
    // Some totals include the tokens that are counted separately, and some do not.
    total_tokens: apart === 0 ? anyOf(value, ["total_tokens", "totalTokens"]) : undefined,
    input_token_details: nonEmpty({ ...promptDetails(value), ...cache }),
    output_token_details: nonEmpty(completionDetails(value)),
  });
}

/** Adds up the usage of several responses to one run. */
function sumUsage(left: Usage, right: Usage): Usage {
  const sum: Usage = { explicit: left.explicit || right.explicit };
  for (const key of COUNTS) {
    const value = addMaybe(left[key], right[key]);
    if (value !== undefined) sum[key] = value;
  }
  for (const key of BREAKDOWNS) {
    const { [key]: one } = left;
    const { [key]: other } = right;
    if (one === undefined && other === undefined) continue;
    const merged = new Map(Object.entries(one ?? {}));
    for (const [name, value] of Object.entries(other ?? {})) {
      merged.set(name, (merged.get(name) ?? 0) + value);
    }
    sum[key] = Object.fromEntries(merged);
  }
  return sum;
}

const COUNTS = [
  "input_tokens",
  "output_tokens",
  "total_tokens",
  "input_cost",
  "output_cost",
  "total_cost",
] as const;

const BREAKDOWNS = [
  "input_token_details",
  "output_token_details",
  "input_cost_details",
  "output_cost_details",
] as const;

function addMaybe(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined ? right : right === undefined ? left : left + right;
}

type Amounts = { [Key in Exclude<keyof Usage, "explicit">]: Usage[Key] | undefined };

function toUsage(explicit: boolean, amounts: Partial<Amounts>): Usage | null {
  const given = Object.entries(amounts).filter(([, amount]) => amount !== undefined);
  return given.length === 0 ? null : { explicit, ...Object.fromEntries(given) };
}

/** OpenAI includes these categories in its tokens. */
function promptDetails(usage: JsonObject): Record<string, number> {
  const details = objectOrEmpty(usage["prompt_tokens_details"] ?? usage["input_tokens_details"]);
  return withoutUndefined({
    audio: toTokens(details["audio_tokens"]),
    cache_read: toTokens(details["cached_tokens"]),
  });
}

function completionDetails(usage: JsonObject): Record<string, number> {
  const details = objectOrEmpty(
    usage["completion_tokens_details"] ?? usage["output_tokens_details"],
  );
  return withoutUndefined({
    audio: toTokens(details["audio_tokens"]),
    reasoning: toTokens(details["reasoning_tokens"]),
  });
}

function cacheTokens(usage: JsonObject): Record<string, number> {
  const byLifetime = objectOrEmpty(usage["cache_creation"]);
  const created = withoutUndefined({
    ephemeral_5m_input_tokens: toTokens(byLifetime["ephemeral_5m_input_tokens"]),
    ephemeral_1h_input_tokens: toTokens(byLifetime["ephemeral_1h_input_tokens"]),
  });
  const total = toTokens(usage["cache_creation_input_tokens"] ?? usage["cacheWriteInputTokens"]);
  return withoutUndefined({
    cache_read: toTokens(usage["cache_read_input_tokens"] ?? usage["cacheReadInputTokens"]),
    ...(Object.keys(created).length > 0 ? created : { cache_creation: total }),
  });
}

function anyOf(object: JsonObject, keys: readonly string[]): number | undefined {
  for (const key of keys) {
    const tokens = toTokens(object[key]);
    if (tokens !== undefined) return tokens;
  }
  return undefined;
}

/** Returns a whole number of tokens; a value that is not a count of tokens counts as absent. */
function toTokens(value: unknown): number | undefined {
  const number = toNumber(value);
  return number !== undefined && number <= MAX_TOKENS ? Math.round(number) : undefined;
}

function toCost(value: unknown): number | undefined {
  const number = toNumber(value);
  return number !== undefined && parseCost(number) !== null ? number : undefined;
}

/** Returns a number that is not negative and is finite; Python sends its decimals as texts. */
function toNumber(value: unknown): number | undefined {
  const isText = typeof value === "string" && value.trim() !== "";
  const number = typeof value === "number" || isText ? Number(value) : Number.NaN;
  return Number.isFinite(number) && number >= 0 ? number : undefined;
}

function toDetails(
  value: unknown,
  read: (value: unknown) => number | undefined,
): Record<string, number> | undefined {
  if (!isObject(value)) return undefined;
  const entries: [string, number][] = [];
  for (const [name, given] of Object.entries(value)) {
    const number = read(given);
    if (number !== undefined && entries.length < MAX_DETAILS) entries.push([name, number]);
  }
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function withoutUndefined(record: Record<string, number | undefined>): Record<string, number> {
  const known = Object.entries(record).filter(([, value]) => value !== undefined);
  return Object.fromEntries(known) as Record<string, number>;
}

function nonEmpty(record: Record<string, number>): Record<string, number> | undefined {
  return Object.keys(record).length === 0 ? undefined : record;
}
