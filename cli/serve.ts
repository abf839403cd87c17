import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Miniflare } from "miniflare";
import { CliError } from "./cli-error.ts";
import { startCronTicker } from "./platform/cron-ticker.ts";
import { applyMigrations } from "./platform/d1-migrations.ts";
import { watchFiles } from "./platform/file-watcher.ts";
import { isPortFree } from "./platform/ports.ts";
import { acquireStateDir, type StateDir } from "./platform/state-dir.ts";
import {
  bundleWorker,
  PROJECT_MODULE,
  WORKER_MODULE,
  workerModules,
  type WorkerModule,
} from "./platform/worker-bundle.ts";
import {
  createMiniflare,
  databaseMiniflareOptions,
  readWorkerConfig,
  serveMiniflareOptions,
  type D1,
  type WorkerConfig,
} from "./platform/worker-options.ts";
import { recordWorkerdPid, startWatchdog } from "./platform/workerd-process.ts";
import { buildProject, type BuiltProject } from "./project/build-project.ts";

const READY_TIMEOUT_MS = 30_000;
const READY_POLL_MS = 25;
const DEFAULT_HOST = "127.0.0.1";

export type PlatformOptions = {
  repoRoot: string;
  /** The project's `langgraph.json`, or its folder. */
  configPath: string;
  /** Holds everything that outlives a restart; one platform at a time. */
  stateDir: string;
  /** 0 for any free port. */
  port: number;
  host?: string;
  /** Rebuild and reload when a source file changes. */
  watch: boolean;
  /** Read schemas from the graphs' TypeScript types; on by default. */
  schemas?: boolean;
  /** Variables that win over those of `wrangler.toml` and `.dev.vars`. */
  vars?: Record<string, string>;
  /** The Worker's entry module, in place of wrangler.toml's `main`. */
  workerMain?: string;
  /** The module that exports `defineGraphHost`, in place of this repository's. */
  graphHostModule?: string;
  /** Runs with each migrated D1 database before the Worker starts. */
  prepareDatabase?: (database: D1, vars: Record<string, unknown>) => Promise<void>;
  onLog: (line: PlatformLog) => void;
};

export type PlatformLog = {
  source: "worker" | "platform";
  level: "info" | "warn" | "error";
  message: string;
};

export type Platform = {
  url: string;
  graphs: string[];
  /** The Worker's variables, as configured. */
  vars: Record<string, unknown>;
  close: () => Promise<void>;
};

type Build = {
  config: WorkerConfig;
  project: BuiltProject;
  modules: WorkerModule[];
  inputs: string[];
};

/**
 * Builds a project of graphs and serves it with the Worker under a local workerd.
 * Resolves when the server answers; throws a `CliError` for what the caller can put right.
 */
export async function startPlatform(options: PlatformOptions): Promise<Platform> {
  const host = options.host ?? DEFAULT_HOST;
  if (options.port !== 0 && !(await isPortFree(host, options.port))) {
    throw new CliError(`port ${options.port} on ${host} is in use; give another with --port`);
  }
  const state = acquireStateDir(options.stateDir);
  const cleanUps: (() => unknown)[] = [() => state.release()];
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= runAll(cleanUps));
  try {
    const built = await buildAll(options, state);
    for (const warning of built.project.warnings) log(options, "warn", warning);
    const runtimeEnv = recordWorkerdPid(state.workerdPidFile);
    cleanUps.push(startWatchdog(state.workerdPidFile));
    await prepareDatabases(built.config, state, runtimeEnv, options);

    const optionsFor = (build: Build, port: number) =>
      serveMiniflareOptions(build.config, {
        persistPath: state.persistPath,
        runtimeEnv,
        modules: build.modules,
        host,
        port,
        vars: { PROJECT_ENV: JSON.stringify(build.project.env), ...options.vars },
        onLog: ({ level, message }) => {
          const known = level === "warn" || level === "error" ? level : "info";
          options.onLog({ source: "worker", level: known, message });
        },
      });
    const miniflare = createMiniflare(optionsFor(built, options.port));
    cleanUps.push(() => miniflare.dispose());
    const url = await directUrl(miniflare);
    await untilAnswering(url);
    state.announce(url.origin);
    const { crons } = built.config;
    cleanUps.push(startCronTicker(miniflare, crons, (message) => log(options, "warn", message)));
    if (options.watch) {
      const port = Number(url.port);
      const reload = async (next: Build): Promise<void> => {
        await miniflare.setOptions(optionsFor(next, port));
        await untilAnswering(url);
      };
      cleanUps.push(watchAndReload(options, state, built, reload));
    }
    return {
      url: url.origin,
      graphs: built.project.graphs,
      vars: varsOf(built.config, options),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function varsOf(config: WorkerConfig, options: PlatformOptions): Record<string, unknown> {
  return { ...config.miniflare.bindings, ...options.vars };
}

async function buildAll(options: PlatformOptions, state: StateDir): Promise<Build> {
  mkdirSync(state.buildDir, { recursive: true });
  const config = readWorkerConfig(options.repoRoot);
  const project = await buildProject({
    configPath: options.configPath,
    outFile: join(state.buildDir, PROJECT_MODULE),
    schemas: options.schemas ?? true,
    ...(options.graphHostModule === undefined ? {} : { graphHostModule: options.graphHostModule }),
  });
  const workerInputs = await bundleWorker({
    repoRoot: options.repoRoot,
    main: options.workerMain ?? config.main,
    define: config.define,
    outFile: join(state.buildDir, WORKER_MODULE),
  });
  const settings = ["wrangler.toml", ".dev.vars"].map((name) => join(options.repoRoot, name));
  return {
    config,
    project,
    modules: workerModules(state.buildDir),
    inputs: [...new Set([...project.inputs, ...workerInputs, ...settings])],
  };
}

/** Migrates before the Worker starts, because its objects and timers may use the tables at once. */
async function prepareDatabases(
  config: WorkerConfig,
  state: StateDir,
  runtimeEnv: Record<string, string>,
  options: PlatformOptions,
): Promise<void> {
  if (config.databases.length === 0) return;
  const miniflare = createMiniflare(
    databaseMiniflareOptions(config, state.persistPath, runtimeEnv),
  );
  try {
    for (const { binding, migrationsDir, table } of config.databases) {
      const database = await miniflare.getD1Database(binding);
      if (migrationsDir !== undefined)
        await applyMigrations(database, { dir: migrationsDir, table });
      await options.prepareDatabase?.(database, varsOf(config, options));
    }
  } finally {
    await miniflare.dispose();
  }
}

/** Returns a function that stops watching. A build or start that fails leaves the old version serving. */
function watchAndReload(
  options: PlatformOptions,
  state: StateDir,
  first: Build,
  reload: (build: Build) => Promise<void>,
): () => void {
  let serving = first;
  let running = false;
  let changedAgain = false;
  const rebuild = async (): Promise<void> => {
    if (running) {
      changedAgain = true;
      return;
    }
    running = true;
    try {
      const next = await buildAll(options, state);
      await reload(next).catch(async (error: unknown) => {
        await reload(serving);
        throw error;
      });
      serving = next;
      watcher.update(next.inputs);
      watcher.watchWholeFolders(false);
      for (const warning of next.project.warnings) log(options, "warn", warning);
      log(options, "info", `reloaded: ${next.project.graphs.join(", ")}`);
    } catch (error) {
      watcher.watchWholeFolders(true);
      log(options, "error", `${(error as Error).message}\nthe version before goes on serving`);
    } finally {
      running = false;
    }
    if (!changedAgain) return;
    changedAgain = false;
    await rebuild();
  };
  const watcher = watchFiles(first.inputs, () => void rebuild());
  return () => watcher.close();
}

async function directUrl(miniflare: Miniflare): Promise<URL> {
  try {
    return await miniflare.unsafeGetDirectURL();
  } catch (error) {
    throw new CliError((error as Error).message);
  }
}

async function untilAnswering(url: URL): Promise<void> {
  const deadline = Date.now() + READY_TIMEOUT_MS;
  let last = "no answer";
  while (Date.now() < deadline) {
    try {
      const response = await fetch(new URL("/ok", url), { signal: AbortSignal.timeout(5_000) });
      const body = await response.text();
      if (response.ok) return;
      last = `${response.status} ${body.slice(0, 500)}`;
    } catch (error) {
      last = (error as Error).message;
    }
    await new Promise((resolve) => setTimeout(resolve, READY_POLL_MS));
  }
  throw new CliError(`the server did not become ready: GET /ok gave ${last}`);
}

async function runAll(cleanUps: (() => unknown)[]): Promise<void> {
  for (const cleanUp of cleanUps.toReversed()) await cleanUp();
}

function log(options: PlatformOptions, level: PlatformLog["level"], message: string): void {
  options.onLog({ source: "platform", level, message });
}
