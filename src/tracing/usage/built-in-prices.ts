import { v5 as uuidv5 } from "uuid";
import { formatDecimal, parseDecimal } from "./money.ts";
import { IGNORE_CASE, type NamePattern } from "./name-pattern.ts";
import file from "./price-data.js";
import { type ModelPrice, PriceList } from "./price-list.ts";
import { DEFAULT_MATCH_PATH } from "./run-model.ts";

/** A price keeps its id for ever, even if its numbers or its pattern change. */
const ID_NAMESPACE = "0b9f1c1e-6a39-4c55-9a0a-5f0f4d1c7e2b";

const PER_MILLION_EXPONENT = -6;

/** The names that other SDKs and OpenTelemetry use for providers that sell models of others. */
const PROVIDER_ALIASES: ReadonlyMap<string, string> = new Map([
  ["aws", "amazon_bedrock"],
  ["aws.bedrock", "amazon_bedrock"],
  ["bedrock", "amazon_bedrock"],
  ["bedrock_converse", "amazon_bedrock"],
  ["az.ai.inference", "azure"],
  ["az.ai.openai", "azure"],
  ["azure.ai.inference", "azure"],
  ["azure.ai.openai", "azure"],
  ["azure_openai", "azure"],
  ["fireworks_ai", "fireworks"],
  ["together_ai", "together"],
  ["togetherai", "together"],
]);

/** Providers that set their own prices for models that others made, or charge nothing. */
const HOSTS: ReadonlySet<string> = new Set([
  "amazon_bedrock",
  "baseten",
  "cerebras",
  "cloudflare",
  "fireworks",
  "groq",
  "huggingface",
  "nvidia",
  "ollama",
  "sambanova",
  "together",
]);

/** The words of the file, and the categories of prompt tokens that they price. */
const PROMPT_WORDS: Readonly<Record<string, readonly string[]>> = {
  cache_read: ["cache_read"],
  cache_read_over_200k: ["cache_read_over_200k"],
  cache_write: ["cache_creation", "ephemeral_5m_input_tokens"],
  // SDKs disagree about the name.
  cache_write_1h: ["ephemeral_1h_input_tokens", "ephemeral_1hr_input_tokens"],
  audio_in: ["audio"],
  image_in: ["image"],
  video_in: ["video"],
};

const COMPLETION_WORDS: Readonly<Record<string, readonly string[]>> = {
  audio_out: ["audio"],
  image_out: ["image"],
  video_out: ["video"],
  reasoning_out: ["reasoning"],
};

let prices: readonly ModelPrice[] | null = null;

let list: PriceList | null = null;

/** Returns the prices that every workspace starts with; the first that fits a run counts. */
export function builtInPrices(): readonly ModelPrice[] {
  prices ??= file.lists.flatMap(({ vendor, provider, models }) =>
    models.map((line) => readLine(line, vendor, provider)),
  );
  return prices;
}

export function builtInPriceList(): PriceList {
  list ??= new PriceList(builtInPrices(), {
    compile: nativePattern,
    aliases: PROVIDER_ALIASES,
    hosts: HOSTS,
  });
  return list;
}

/** Uses native expressions, because the file's patterns are known to be harmless, and there are many. */
function nativePattern(pattern: string): NamePattern {
  const expression = new RegExp(pattern.slice(IGNORE_CASE.length), "i");
  return { matches: (name) => expression.test(name) };
}

function readLine(line: string, vendor: string, provider: string | null): ModelPrice {
  const [name = "", pattern = "", prompt = "", completion = "", ...words] = line.split(" ");
  const values = new Map(words.map((word) => word.split("=", 2) as [string, string]));
  const start = values.get("start");
  const over = values.get("over");
  let id: string | null = null;
  return {
    // The id is computed on demand: for all prices, it would take tens of milliseconds.
    get id() {
      return (id ??= uuidv5([vendor, name, start ?? "", over ?? ""].join(" "), ID_NAMESPACE));
    },
    name,
    matchPattern: `${IGNORE_CASE}${pattern}`,
    matchPath: DEFAULT_MATCH_PATH,
    provider,
    startTime: start === undefined ? null : Date.parse(start) * 1000,
    promptTokenThreshold: over === undefined ? null : Number(over),
    promptCost: perToken(prompt),
    completionCost: perToken(completion),
    promptCostDetails: detailsOf(values, PROMPT_WORDS),
    completionCostDetails: detailsOf(values, COMPLETION_WORDS),
  };
}

function detailsOf(
  values: ReadonlyMap<string, string>,
  words: Readonly<Record<string, readonly string[]>>,
): Record<string, string> {
  const details: Record<string, string> = {};
  for (const [word, categories] of Object.entries(words)) {
    const price = values.get(word);
    if (price === undefined) continue;
    for (const category of categories) details[category] = perToken(price);
  }
  return details;
}

function perToken(perMillion: string): string {
  const decimal = parseDecimal(perMillion);
  if (decimal === null) throw new Error(`${perMillion} is no price`);
  return formatDecimal({ ...decimal, exponent: decimal.exponent + PER_MILLION_EXPONENT });
}
