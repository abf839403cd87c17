import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { parse } from "smol-toml";
import { z } from "zod";
import type { Region } from "../../src/lib/region.ts";
import { CliError } from "../cli-error.ts";
import { buildConsole } from "../console/build-console.ts";
import { BUILT, CONSOLE_FOLDER, homeOf, TEMPLATES_FILE } from "../installation.ts";
import { REPO_ROOT } from "../invocation.ts";
import { makePrivateFolder } from "../platform/private-folder.ts";
import { bundleWorker } from "../platform/worker-bundle.ts";
import { buildProject } from "../project/build-project.ts";
import { buildTemplates } from "../project/build-templates.ts";

/** The prefix of the names of all resources in `wrangler.toml`. */
const NAME = "threadworks";
/** A project's own settings for its installation, in a file beside its `langgraph.json`. */
const OVERRIDES = "threadworks.cloudflare.json";

const wranglerConfig = z.looseObject({
  vars: z.record(z.string(), z.unknown()),
  rules: z.array(z.unknown()),
  assets: z.looseObject({}),
  d1_databases: z.array(z.looseObject({ database_name: z.string() })).length(1),
  r2_buckets: z.array(
    z.looseObject({ bucket_name: z.string(), jurisdiction: z.string().optional() }),
  ),
  queues: z.object({
    producers: z.array(z.looseObject({ queue: z.string() })),
    consumers: z.array(z.looseObject({ queue: z.string() })),
  }),
});
export type InstallationConfig = z.infer<typeof wranglerConfig> & { name: string };

/** One installation of the platform in an account. */
export type Installation = {
  /** The region, when this is one of two regional installations; undefined for a single installation. */
  region: Region | undefined;
  /** The folder beside the project that holds the installation's generated files and the state of `up`. */
  folder: string;
  config: InstallationConfig;
};

/** Returns the folder of an installation's generated files. */
export function installationFolder(region: Region | undefined, project?: string): string {
  return join(homeOf(project), "cloudflare", region ?? "single");
}

/**
 * Reads an installation from `wrangler.toml`, with the names of its resources replaced by names that begin
 * with `name`.
 */
export function readInstallation(options: {
  project: string;
  region: Region | undefined;
  name: string;
}): Installation {
  const { project, region, name } = options;
  const {
    env,
    build: _build,
    ...top
  } = parse(readFileSync(join(REPO_ROOT, "wrangler.toml"), "utf8"));
  const own = region === undefined ? {} : Reflect.get(Object(env), region);
  const overrides = readOverrides(project);
  const named = wranglerConfig.parse(
    JSON.parse(JSON.stringify({ ...top, ...own }).replaceAll(`"${NAME}`, `"${name}`)),
  );
  const config: InstallationConfig = {
    ...named,
    ...overrides,
    name: region === undefined ? name : `${name}-${region}`,
    vars: { ...named.vars, ...overrides.vars },
    r2_buckets: named.r2_buckets.map(({ local_dev: _local, ...bucket }) => bucket),
  };
  return { region, folder: installationFolder(region, project), config };
}

function readOverrides(project: string): { vars?: Record<string, unknown> } {
  const file = join(project, OVERRIDES);
  if (!existsSync(file)) return {};
  try {
    const shape = z.looseObject({ vars: z.record(z.string(), z.unknown()).optional() });
    const { vars, ...others } = shape.parse(JSON.parse(readFileSync(file, "utf8")));
    return { ...others, ...(vars === undefined ? {} : { vars }) };
  } catch (error) {
    throw new CliError(`${file} cannot be used: ${(error as Error).message}`);
  }
}

/** Writes the Worker with the project's graphs, its console and its templates to the folder that wrangler uploads. */
export async function writeWorker(
  { folder }: Installation,
  project: string,
): Promise<{ warnings: string[]; env: Record<string, string> }> {
  makePrivateFolder(folder);
  const worker = join(folder, "worker");
  rmSync(worker, { recursive: true, force: true });
  mkdirSync(worker);
  const built = await buildProject({
    configPath: project,
    outFile: join(worker, "project.js"),
    schemas: true,
    compact: true,
  });
  rmSync(join(worker, "project.js.map"), { force: true });
  const outFile = join(worker, "worker.js");
  if (BUILT === undefined) {
    const main = join(REPO_ROOT, "src/index.ts");
    await bundleWorker({ repoRoot: REPO_ROOT, main, define: {}, outFile, shipped: true });
    rmSync(`${outFile}.map`);
  } else {
    cpSync(BUILT.worker, outFile);
  }
  await buildTemplates();
  cpSync(TEMPLATES_FILE, join(worker, "templates.js"));
  await buildConsole();
  for (const { path, text } of built.files) {
    mkdirSync(dirname(join(worker, path)), { recursive: true });
    writeFileSync(join(worker, path), text);
  }
  return { warnings: built.warnings, env: built.env };
}

/**
 * Writes the configuration that wrangler reads. Without `online` the Worker has no routes, queues or cron
 * triggers.
 */
export function writeConfig(
  { folder, config }: Installation,
  { databaseId, online }: { databaseId: string; online: boolean },
): string {
  const { queues, triggers, ...kept } = config;
  const file = join(folder, "wrangler.json");
  const written = {
    ...kept,
    main: "worker/worker.js",
    base_dir: "worker",
    no_bundle: true,
    rules: [{ type: "ESModule", globs: ["*.js"], fallthrough: true }, ...config.rules],
    assets: { ...config.assets, directory: relative(folder, CONSOLE_FOLDER) },
    d1_databases: config.d1_databases.map((database) => ({
      ...database,
      database_id: databaseId,
      migrations_dir: relative(folder, join(REPO_ROOT, "migrations")),
    })),
    ...(online
      ? { queues, triggers, workers_dev: config["workers_dev"] ?? true }
      : { triggers: { crons: [] }, workers_dev: false, routes: [] }),
  };
  writeFileSync(file, `${JSON.stringify(written, null, 2)}\n`, { mode: 0o600 });
  return file;
}
