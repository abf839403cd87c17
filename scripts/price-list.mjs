/**
 * Writes src/tracing/usage/price-data.js, the prices that every workspace starts with, from the
 * published price data of @pydantic/genai-prices. It is run by hand when prices have changed:
 *
 *   node scripts/price-list.mjs [version]
 *
 * The package is fetched with `npm pack` and only read; it is not a dependency. Prices that are not
 * per token (searches, hours, pages, requests) are left out. When prices depend on the hour, the one
 * that holds for most of the day is used.
 */
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const PACKAGE = "@pydantic/genai-prices";
const DEFAULT_VERSION = "0.1.8";
const TARGET = resolve(
  dirname(fileURLToPath(import.meta.url)),
  "../src/tracing/usage/price-data.js",
);

/** The package's names for prices per million tokens, and the names in the file. */
const DETAILS = [
  ["cache_read_mtok", "cache_read"],
  ["cache_write_mtok", "cache_write"],
  ["cache_write_1h_mtok", "cache_write_1h"],
  ["input_audio_mtok", "audio_in"],
  ["input_image_mtok", "image_in"],
  ["input_video_mtok", "video_in"],
  ["output_audio_mtok", "audio_out"],
  ["output_image_mtok", "image_out"],
  ["output_video_mtok", "video_out"],
  ["output_reasoning_mtok", "reasoning_out"],
];

/** LangSmith's wrapper of Gemini reports cached tokens in two categories. */
const GOOGLE_DETAILS = [...DETAILS, ["cache_read_mtok", "cache_read_over_200k"]];

/**
 * The providers whose prices are used, in the order in which a model is looked up. `provider` is the
 * `ls_provider` of runs that the prices apply to; without it they apply to any provider, which is right for
 * models that only their maker prices. `prefix` is a pattern of vendor prefixes that routers put before such
 * a model's name.
 */
const SOURCES = [
  { id: "aws", provider: "amazon_bedrock" },
  { id: "azure", provider: "azure" },
  { id: "groq", provider: "groq" },
  { id: "together", provider: "together" },
  { id: "fireworks", provider: "fireworks" },
  { id: "cerebras", provider: "cerebras" },
  { id: "openrouter", provider: "openrouter" },
  { id: "openai", prefix: "openai/" },
  { id: "anthropic", prefix: "anthropic/" },
  { id: "google", prefix: "(?:models|google|gemini|vertex_ai)/", details: GOOGLE_DETAILS },
  { id: "x-ai", prefix: "x-?ai/" },
  { id: "mistral" },
  { id: "deepseek" },
  { id: "cohere" },
  { id: "perplexity", prefix: "perplexity/" },
  { id: "moonshotai" },
  { id: "minimax" },
  { id: "zhipuai" },
  { id: "voyageai" },
];

async function main() {
  const version = process.argv[2] ?? DEFAULT_VERSION;
  const { providers, license } = await readPackage(version);
  const lists = SOURCES.map(({ id, provider, prefix = "", details = DETAILS }) => {
    const source = providers.find((each) => each.id === id);
    if (source === undefined) throw new Error(`${PACKAGE} has no prices of ${id}`);
    return {
      vendor: id,
      provider: provider ?? null,
      models: source.models.flatMap((model) => modelLines(model, prefix, details)),
    };
  });
  const file = {
    source: `${PACKAGE} ${version}, https://github.com/pydantic/genai-prices`,
    license,
    written_by: "scripts/price-list.mjs",
    format:
      "name, pattern of model names, USD per million prompt and completion tokens, then what " +
      "differs: start = first day, over = for more prompt tokens than that, else a price per million",
    lists,
  };
  await writeFile(TARGET, `export default ${JSON.stringify(file, null, 2)};\n`);
  const count = lists.reduce((sum, { models }) => sum + models.length, 0);
  process.stdout.write(`${count} prices written to ${TARGET}\n`);
}

async function readPackage(version) {
  const folder = await mkdtemp(join(tmpdir(), "price-list-"));
  try {
    const options = { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] };
    const archive = execFileSync("npm", ["pack", "--silent", `${PACKAGE}@${version}`], options);
    execFileSync("tar", ["-xzf", archive.trim()], options);
    const { waitForUpdate } = await import(
      pathToFileURL(join(folder, "package/dist/index.js")).href
    );
    const license = await readFile(join(folder, "package/LICENSE"), "utf8");
    return {
      providers: await waitForUpdate(),
      license: license
        .trim()
        .split("\n\n")
        .map((paragraph) => paragraph.replaceAll("\n", " ")),
    };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/**
 * Returns the price lines of a model: the newest prices first, and within a period those for the longest
 * prompts first.
 */
function modelLines(model, prefix, details) {
  const pattern = patternOf(model.match, prefix);
  const periods = Array.isArray(model.prices) ? model.prices : [{ prices: model.prices }];
  const mostOfDay = periods.find(({ constraint }) => hoursOf(constraint) > 12);
  return periods
    .filter(({ constraint }) => constraint?.type !== "time_of_date")
    .map(({ constraint, prices }) => ({
      start: constraint?.start_date ?? "",
      prices: mostOfDay?.prices ?? prices,
    }))
    .toSorted((left, right) => right.start.localeCompare(left.start))
    .flatMap(({ start, prices }) =>
      thresholdsOf(prices, details).flatMap((over) => {
        const line = priceLine(prices, details, { start, over });
        return line === null ? [] : [`${model.id} ${pattern} ${line}`];
      }),
    );
}

/** Returns the daily number of hours for which a price holds; 0 for a price that does not depend on the hour. */
function hoursOf(constraint) {
  if (constraint?.type !== "time_of_date") return 0;
  const [start, end] = [constraint.start_time, constraint.end_time].map((time) =>
    Date.parse(`1970-01-01T${time}`),
  );
  return ((end - start) / 3_600_000 + 24) % 24;
}

function thresholdsOf(prices, details) {
  const keys = ["input_mtok", "output_mtok", ...details.map(([key]) => key)];
  const tiers = keys.flatMap((key) => prices[key]?.tiers ?? []);
  const starts = new Set(tiers.map(({ start }) => start));
  return [...starts, 0].toSorted((left, right) => right - left);
}

function priceLine(prices, details, { start, over }) {
  const input = priceAt(prices.input_mtok, over);
  if (input === undefined) return null;
  const words = [input, priceAt(prices.output_mtok, over) ?? "0"];
  if (start !== "") words.push(`start=${start}`);
  if (over > 0) words.push(`over=${over}`);
  for (const [key, name] of details) {
    const price = priceAt(prices[key], over);
    if (price !== undefined) words.push(`${name}=${price}`);
  }
  return words.join(" ");
}

/** Returns the price for a prompt just above a threshold. */
function priceAt(price, over) {
  if (price === undefined) return undefined;
  if (typeof price === "number") return String(price);
  const tier = price.tiers.findLast(({ start }) => start <= over);
  return String(over === 0 || tier === undefined ? price.base : tier.price);
}

function patternOf(match, prefix) {
  const pattern = alternativesOf([match], prefix).join("|");
  if (/\s/.test(pattern)) throw new Error(`pattern with a space: ${pattern}`);
  return pattern;
}

/** Returns the alternatives of a pattern. Whole names are combined into one, because most matches are whole names. */
function alternativesOf(matches, prefix) {
  const flat = matches.flatMap((match) => ("or" in match ? match.or : [match]));
  if (flat.some((match) => "or" in match)) return alternativesOf(flat, prefix);
  const optional = prefix === "" ? "" : `(?:${prefix})?`;
  const equal = flat.flatMap((match) => ("equals" in match ? [escape(match.equals)] : []));
  const start = flat.flatMap((match) =>
    "starts_with" in match ? [escape(match.starts_with)] : [],
  );
  const others = flat.flatMap((match) => {
    if ("contains" in match) return [escape(match.contains)];
    if ("ends_with" in match) return [`${escape(match.ends_with)}$`];
    if ("regex" in match) return [match.regex.replace(/^\^(?!\()/, `^${optional}`)];
    if ("and" in match) return [`^${optional}${match.and.map(lookahead).join("")}`];
    return [];
  });
  return [
    ...(equal.length > 0 ? [`^${optional}${oneOf(equal)}$`] : []),
    ...(start.length > 0 ? [`^${optional}${oneOf(start)}`] : []),
    ...others,
  ];
}

function lookahead(match) {
  if ("starts_with" in match) return `(?=${escape(match.starts_with)})`;
  if ("regex" in match && match.regex.startsWith("^(?!")) return match.regex.slice(1);
  throw new Error(`a condition that is not known: ${JSON.stringify(match)}`);
}

function oneOf(texts) {
  return texts.length === 1 ? texts[0] : `(?:${texts.join("|")})`;
}

function escape(text) {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}

await main();
