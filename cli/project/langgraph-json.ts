import { readFileSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import dotenv from "dotenv";
import { z } from "zod";
import type { WebhookDefinition } from "../../src/graph-runtime/webhook-headers.ts";
import { CliError } from "../cli-error.ts";
import { authSchema, type AuthSource, authWarnings, readAuth } from "./langgraph-json-auth.ts";
import { type HttpSource, httpSchema, httpWarnings, readHttp } from "./langgraph-json-http.ts";
import {
  checkpointerSchema,
  checkpointerWarnings,
  readThreadTtl,
  type ThreadTtl,
} from "./langgraph-json-ttl.ts";
import { readUi, uiConfigSchema, uiSchema, type UiSource } from "./langgraph-json-ui.ts";
import { readWebhooks, webhooksSchema } from "./langgraph-json-webhooks.ts";
import { readStore, type StoreSource, storeSchema } from "./langgraph-json-store.ts";
import { isFile, resolveExport } from "./module-export.ts";

/** Keys that affect how a graph is served elsewhere and have no effect here. */
const KEYS_WITHOUT_EFFECT = ["dockerfile_lines"] as const;

const graphEntry = z.preprocess(
  (entry) => (typeof entry === "string" ? { path: entry } : entry),
  z.strictObject({ path: z.string(), description: z.string().optional() }),
);

const langgraphJson = z.strictObject({
  $schema: z.string().optional(),
  graphs: z.record(z.string(), graphEntry),
  env: z.union([z.string(), z.array(z.string()), z.record(z.string(), z.string())]).optional(),
  dependencies: z.array(z.string()).optional(),
  node_version: z.union([z.string(), z.number()]).optional(),
  python_version: z.string().optional(),
  pip_config_file: z.string().optional(),
  pip_installer: z.string().optional(),
  dockerfile_lines: z.array(z.string()).optional(),
  base_image: z.string().optional(),
  image_distro: z.string().optional(),
  api_version: z.string().optional(),
  store: storeSchema.nullish(),
  checkpointer: checkpointerSchema.nullish(),
  auth: authSchema.nullish(),
  http: httpSchema.nullish(),
  webhooks: webhooksSchema.nullish(),
  ui: uiSchema.nullish(),
  ui_config: uiConfigSchema.nullish(),
  keep_pkg_tools: z.union([z.boolean(), z.array(z.string())]).nullish(),
  _INTERNAL_docker_tag: z.string().optional(),
});

type LanggraphJson = z.infer<typeof langgraphJson>;

type GraphSource = {
  id: string;
  /** Absolute path of the module. */
  file: string;
  exportName: string;
  description: string | undefined;
};

export type ProjectConfig = {
  configPath: string;
  projectDir: string;
  graphs: GraphSource[];
  /** The project's own authentication and authorization. */
  auth: AuthSource | undefined;
  /** The project's own routes, and how the built-in ones are served. */
  http: HttpSource | undefined;
  /** The project's components for browsers. */
  ui: UiSource | undefined;
  /** Undefined when the project does not configure webhooks. */
  webhooks: WebhookDefinition | undefined;
  /** What happens to threads without a setting of their own; null when they are kept. */
  threadTtl: ThreadTtl | null;
  /** The lifetime of store items, and how they are searched by meaning. */
  store: StoreSource | undefined;
  env: Record<string, string>;
  /** The `.env` file that `env` names, whether or not it exists. */
  envFile: string | undefined;
  warnings: string[];
};

/** LangChain's variable that makes it run callbacks in the background. The graph host sets it to "false". */
const BACKGROUND = "LANGCHAIN_CALLBACKS_BACKGROUND";

/**
 * Reads a project's `langgraph.json` and the `.env` file that it names. Throws a `CliError` that names every
 * key, graph or file that cannot be used.
 */
export function loadProjectConfig(path: string): ProjectConfig {
  const configPath = findConfigFile(path);
  const projectDir = dirname(configPath);
  const { config, unknown } = parseConfig(configPath);
  const warnings = keysWithoutEffect(config).map(
    (key) => `"${key}" in ${basename(configPath)} has no effect yet`,
  );
  if (unknown.length > 0) warnings.push(ignoredText(unknown, basename(configPath)));
  const ofParts = [
    ...authWarnings(config.auth),
    ...checkpointerWarnings(config.checkpointer),
    ...httpWarnings(config.http),
  ];
  warnings.push(...ofParts.map((text) => `${text} in ${basename(configPath)}`));
  const { env, envFile, warning } = readEnv(config.env, projectDir);
  if (warning !== undefined) warnings.push(warning);
  if ((env[BACKGROUND] ?? "false") !== "false") {
    warnings.push(
      `${BACKGROUND} has no effect: a run waits for its callbacks, so that none is lost`,
    );
  }
  return {
    configPath,
    projectDir,
    graphs: resolveGraphs(config.graphs, projectDir, configPath),
    auth: readAuth(config.auth, projectDir, configPath),
    http: readHttp(config.http, projectDir, configPath),
    ui: readUi(config.ui, config.ui_config, { projectDir, configPath }),
    webhooks: readWebhooks(config.webhooks, config.http, configPath),
    threadTtl: readThreadTtl(config.checkpointer),
    store: readStore(config.store, projectDir, configPath),
    env,
    envFile,
    warnings,
  };
}

function findConfigFile(path: string): string {
  const absolute = resolve(path);
  const stats = statSync(absolute, { throwIfNoEntry: false });
  const file = stats?.isDirectory() ? join(absolute, "langgraph.json") : absolute;
  if (!isFile(file)) throw new CliError(`no project here: ${file} does not exist`);
  return file;
}

/** Parses the file. Unknown keys are removed: a project may have its own, or those of newer tools. */
function parseConfig(configPath: string): { config: LanggraphJson; unknown: string[] } {
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(configPath, "utf8"));
  } catch (error) {
    throw new CliError(`${configPath} is not valid JSON: ${(error as Error).message}`);
  }
  const unknown = takeUnknownKeys(json);
  const parsed = langgraphJson.safeParse(json);
  const problems = (parsed.error?.issues ?? []).map((issue) => `  ${describeIssue(issue)}`);
  // With a misspelt "path", the server would be open to everyone.
  const misspelt = unknown.find((key) => /^auth\.[^.]+$/.test(key));
  if (misspelt !== undefined && parsed.data?.auth?.path === undefined) {
    problems.push(`  "auth" has "${misspelt.slice(5)}", which is not known, and no "path"`);
  }
  if (parsed.success && problems.length === 0) return { config: parsed.data, unknown };
  throw new CliError(`${configPath} cannot be used:\n${problems.join("\n")}`);
}

/** Removes all keys that the schema does not know, at any depth, and returns their paths. */
function takeUnknownKeys(json: unknown): string[] {
  const { error } = langgraphJson.safeParse(json);
  const unknown: string[] = [];
  for (const issue of error?.issues ?? []) {
    if (issue.code !== "unrecognized_keys") continue;
    let holder: unknown = json;
    for (const key of issue.path) holder = Reflect.get(Object(holder), key);
    for (const key of issue.keys) {
      Reflect.deleteProperty(Object(holder), key);
      unknown.push([...issue.path, key].map(String).join("."));
    }
  }
  return unknown;
}

function ignoredText(keys: string[], fileName: string): string {
  const quoted = keys.map((key) => `"${key}"`).join(", ");
  return `${quoted} in ${fileName} ${keys.length === 1 ? "is" : "are"} not known, and ignored`;
}

function describeIssue(issue: z.core.$ZodIssue): string {
  const at = issue.path.map(String).join(".");
  if (issue.path[0] === "graphs" && issue.path.length === 2) {
    return `graph "${String(issue.path[1])}": give "./file.ts:export" or {"path": "./file.ts:export", "description": "..."}`;
  }
  if (issue.path[0] === "env" && issue.path.length === 1) {
    return `"env" must be the path of a .env file, a list of names of variables, or an object of strings`;
  }
  return at === "" ? issue.message : `"${at}": ${issue.message}`;
}

function resolveGraphs(
  entries: LanggraphJson["graphs"],
  projectDir: string,
  configPath: string,
): GraphSource[] {
  const graphs: GraphSource[] = [];
  const problems: string[] = [];
  for (const [id, entry] of Object.entries(entries)) {
    const { path, description } = entry;
    const source = resolveGraph(id, path, projectDir);
    if (typeof source === "string") problems.push(`  ${source}`);
    else graphs.push({ id, description, ...source });
  }
  if (problems.length > 0) {
    throw new CliError(`${configPath} cannot be used:\n${problems.join("\n")}`);
  }
  if (graphs.length === 0) throw new CliError(`${configPath} names no graph: "graphs" is empty`);
  return graphs;
}

/** Returns the module and export that a graph's entry names, or a message that says what is wrong with it. */
function resolveGraph(
  id: string,
  spec: string,
  projectDir: string,
): { file: string; exportName: string } | string {
  if (id.trim() === "") return "a graph id may not be empty";
  return resolveExport({ what: `graph "${id}"`, spec, example: "./agent.ts:graph" }, projectDir);
}

function readEnv(
  env: LanggraphJson["env"],
  projectDir: string,
): { env: Record<string, string>; envFile: string | undefined; warning?: string } {
  if (env === undefined) return { env: {}, envFile: undefined };
  if (Array.isArray(env)) return { ...fromProcess(env), envFile: undefined };
  if (typeof env !== "string") return { env, envFile: undefined };
  const envFile = resolve(projectDir, env);
  // Templates name a `.env` that they do not commit, so a project without one still has to start.
  if (!isFile(envFile)) {
    return { env: {}, envFile, warning: noEnvFileWarning(envFile) };
  }
  return { env: dotenv.parse(readFileSync(envFile)), envFile };
}

/** Returns the warning that a project has when the file that its `env` names is missing. */
export function noEnvFileWarning(envFile: string): string {
  return `${envFile} does not exist: no variables are set`;
}

/** Reads the listed variables from the environment that the project is built in. */
function fromProcess(names: string[]): { env: Record<string, string>; warning?: string } {
  const values = names.map((name): [string, string | undefined] => [name, process.env[name]]);
  const env = Object.fromEntries(
    values.filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
  const unset = values.filter(([, value]) => value === undefined).map(([name]) => name);
  if (unset.length === 0) return { env };
  const are = unset.length === 1 ? "is" : "are";
  return { env, warning: `"env" names ${unset.join(", ")}, which ${are} not set here` };
}

function keysWithoutEffect(config: LanggraphJson): string[] {
  return KEYS_WITHOUT_EFFECT.filter((key) => Object.keys(config[key] ?? {}).length > 0);
}
