import { z } from "zod";
import { MAX_DIMENSIONS } from "../../src/graph-runtime/store-operations.ts";
import { MAX_TTL_MINUTES } from "../../src/lib/time.ts";
import { DEFAULT_STORE, type StoreSettings } from "../../src/graph-runtime/store-settings.ts";
import { CliError } from "../cli-error.ts";
import { type ModuleExport, resolveExport } from "./module-export.ts";

const minutes = z.number().positive().max(MAX_TTL_MINUTES);

export const storeSchema = z.strictObject({
  index: z
    .strictObject({
      embed: z.string(),
      dims: z.int().positive().max(MAX_DIMENSIONS),
      fields: z.array(z.string()).max(100).nullish(),
    })
    .nullish(),
  ttl: z
    .strictObject({
      refresh_on_read: z.boolean().nullish(),
      default_ttl: minutes.nullish(),
      sweep_interval_minutes: minutes.nullish(),
    })
    .nullish(),
});

type StoreConfig = z.infer<typeof storeSchema> | null | undefined;

/** An export of a module of the project, or of a package that it has installed. */
type EmbedSource = ModuleExport & {
  /** The name of the model, when the export is LangChain's class of a provider's embeddings. */
  model?: string;
};

export type StoreSource = {
  ttl: StoreSettings["ttl"];
  index: { dims: number; fields: string[]; embed: EmbedSource } | undefined;
};

/** LangChain's classes of embeddings, by the provider in `provider:model`. */
const PROVIDERS = new Map([
  ["azure_openai", ["@langchain/openai", "AzureOpenAIEmbeddings"]],
  ["bedrock", ["@langchain/aws", "BedrockEmbeddings"]],
  ["cohere", ["@langchain/cohere", "CohereEmbeddings"]],
  ["google_genai", ["@langchain/google-genai", "GoogleGenerativeAIEmbeddings"]],
  ["google_vertexai", ["@langchain/google-vertexai", "VertexAIEmbeddings"]],
  ["mistralai", ["@langchain/mistralai", "MistralAIEmbeddings"]],
  ["ollama", ["@langchain/ollama", "OllamaEmbeddings"]],
  ["openai", ["@langchain/openai", "OpenAIEmbeddings"]],
]) as ReadonlyMap<string, readonly [packageName: string, className: string]>;

/** Reads the setting. Throws a `CliError` when `index.embed` names neither an export nor a known provider. */
export function readStore(
  config: StoreConfig,
  projectDir: string,
  configPath: string,
): StoreSource | undefined {
  if (config == null) return undefined;
  const { ttl, index } = config;
  const defaults = DEFAULT_STORE.ttl;
  const source: StoreSource = {
    ttl: {
      refresh_on_read: ttl?.refresh_on_read ?? defaults.refresh_on_read,
      default_ttl: ttl?.default_ttl ?? defaults.default_ttl,
      sweep_interval_minutes: ttl?.sweep_interval_minutes ?? defaults.sweep_interval_minutes,
    },
    index: undefined,
  };
  if (index == null) return source;
  const embed = readEmbed(index.embed, projectDir);
  if (typeof embed === "string") throw new CliError(`${configPath} cannot be used:\n  ${embed}`);
  return { ...source, index: { dims: index.dims, fields: index.fields ?? ["$"], embed } };
}

/** Parses `index.embed`. A name with neither a dot nor a slash before its colon is a provider. */
function readEmbed(spec: string, projectDir: string): EmbedSource | string {
  const named = /^([a-z][a-z0-9_-]*):(.+)$/.exec(spec);
  if (named === null) {
    const what = '"store.index.embed"';
    return resolveExport({ what, spec, example: "./embed.ts:embed" }, projectDir);
  }
  const [, provider = "", model = ""] = named;
  const known = PROVIDERS.get(provider.replaceAll("-", "_"));
  if (known === undefined) {
    return `"store.index.embed": "${provider}" is not a known provider: name one of ${[...PROVIDERS.keys()].join(", ")}, or a function, like "./embed.ts:embed"`;
  }
  const [file, exportName] = known;
  return { file, exportName, model };
}
