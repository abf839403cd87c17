import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type {
  Log as LogType,
  Miniflare as MiniflareType,
  MiniflareOptions,
  Request,
  Response,
  V4WorkerOptions,
  WorkerdStructuredLog,
} from "miniflare";
import { CliError } from "../cli-error.ts";
import { readEnvFile } from "../deploy/env-file.ts";
import { BUILT } from "../installation.ts";
import { REPO_ROOT } from "../invocation.ts";
import { LOCAL_BUCKET, LOCAL_BUCKET_BINDING, S3_HOST, type S3Credentials } from "./local-s3.ts";
import { loadMiniflare } from "./miniflare.ts";
import type { WorkerModule } from "./worker-modules.ts";
import { callerOptions } from "./worker-calls.ts";

export type D1Config = {
  binding: string;
  database_name?: string;
  database_id?: string;
  preview_database_id?: string;
  migrations_dir?: string;
  migrations_table?: string;
};

/** Miniflare's options of a Worker, without its source. */
type WorkerSettings = Partial<V4WorkerOptions> & { bindings?: Record<string, unknown> };

export type WorkerConfig = {
  name: string;
  main: string;
  define: Record<string, string>;
  crons: string[];
  databases: { binding: string; migrationsDir: string | undefined; table: string | undefined }[];
  /** The bindings and settings of `wrangler.toml`, as Miniflare's options. */
  miniflare: WorkerSettings;
};

/**
 * Reads `wrangler.toml`, and the `.dev.vars` beside it, as wrangler does. A package contains the prebuilt
 * result for the former; the settings of the project that it serves are read from `settingsPath`.
 */
export async function readWorkerConfig(
  repoRoot: string,
  settingsPath?: string,
): Promise<WorkerConfig> {
  if (BUILT !== undefined) return readBuiltConfig(BUILT.config, settingsPath);
  const configPath = join(repoRoot, "wrangler.toml");
  // Loaded on demand: this takes longer than everything else in a start without changes.
  const { unstable_getMiniflareWorkerOptions, unstable_readConfig } = await import("wrangler");
  const { config, options } = withoutWranglerLog(() => {
    const read = unstable_readConfig({ config: configPath });
    return { config: read, options: unstable_getMiniflareWorkerOptions(read) };
  });
  if (config.name === undefined) throw new CliError(`${configPath} gives no name`);
  const { workerOptions, define, main } = options;
  const databases = (config.d1_databases as D1Config[]).map((database) => ({
    binding: database.binding,
    table: database.migrations_table,
    migrationsDir:
      database.migrations_dir === undefined
        ? undefined
        : resolve(dirname(configPath), database.migrations_dir),
  }));
  return {
    name: config.name,
    main: main ?? join(repoRoot, "src/index.ts"),
    define,
    crons: config.triggers.crons ?? [],
    databases,
    miniflare: workerOptions,
  };
}

function readBuiltConfig(file: string, settingsPath: string | undefined): WorkerConfig {
  const config = JSON.parse(readFileSync(file, "utf8")) as WorkerConfig;
  const settings = settingsPath === undefined ? {} : readEnvFile(settingsPath);
  return {
    ...config,
    databases: config.databases.map(({ migrationsDir, ...database }) => ({
      ...database,
      migrationsDir: migrationsDir === undefined ? undefined : resolve(REPO_ROOT, migrationsDir),
    })),
    miniflare: {
      ...config.miniflare,
      rootPath: REPO_ROOT,
      bindings: { ...config.miniflare.bindings, ...settings },
    },
  };
}

/** Silences wrangler, which prints on stdout which files it reads. */
function withoutWranglerLog<T>(read: () => T): T {
  const level = process.env["WRANGLER_LOG"];
  process.env["WRANGLER_LOG"] = level ?? "error";
  try {
    return read();
  } finally {
    if (level === undefined) delete process.env["WRANGLER_LOG"];
  }
}

export type WorkerOptions = {
  persistPath: string;
  runtimeEnv: Record<string, string>;
  modules: WorkerModule[];
  /** The console's files, when the Worker serves the console. */
  consoleFolder?: string;
  host: string;
  port: number;
  vars: Record<string, string>;
  /** The port and credentials with which S3 clients reach the bucket for exports; port 0 selects any. */
  s3?: { port: number; credentials: S3Credentials };
  /** Answers the graph host's requests for the schemas of a graph's types. */
  schemas?: (request: Request) => Response;
  /** Whether to add the Worker that the calls of `worker-calls.ts` need. */
  calls?: boolean;
  /** Answers the Worker's request for the free disk space, which it makes when a write fails. */
  disk?: () => Promise<Response>;
  onLog: (log: WorkerdStructuredLog) => void;
  /** Called when workerd has crashed and runs again. */
  onCrashRestart: () => void;
};

/**
 * Returns Miniflare's options for serving. The Worker listens on its own socket, without the proxy Worker
 * that Miniflare puts before its entry, because that hop halves the throughput. The entry only carries this
 * process's own calls and those of S3 clients.
 */
export function serveMiniflareOptions(
  config: WorkerConfig,
  options: WorkerOptions,
): MiniflareOptions {
  // With its own assets, the Worker would be called through a proxy and not directly.
  const { modulesRules: _modulesRules, assets: _assets, ...workerOptions } = config.miniflare;
  const { s3 } = options;
  return loadMiniflare().convertV4MiniflareOptions({
    ...sharedOptions(options.persistPath, options.runtimeEnv),
    host: S3_HOST,
    port: s3?.port ?? 0,
    handleStructuredLogs: options.onLog,
    unsafeHandleRuntimeRestart: options.onCrashRestart,
    workers: [
      {
        ...workerOptions,
        name: config.name,
        modules: options.modules,
        modulesRoot: "/",
        bindings: { ...workerOptions.bindings, ...options.vars },
        serviceBindings: {
          ...workerOptions.serviceBindings,
          ...consoleOf(options.consoleFolder),
          ...(options.schemas === undefined ? {} : { PROJECT_SCHEMAS: options.schemas }),
          ...(options.disk === undefined ? {} : { LOCAL_DISK: options.disk }),
        },
        r2Buckets: bucketsOf(workerOptions, s3?.credentials),
        unsafeDirectSockets: [{ host: options.host, port: options.port }],
      },
      ...(options.calls !== true ? [] : [callerOptions(config.name, workerOptions)]),
    ],
  });
}

function consoleOf(folder: string | undefined): WorkerSettings["serviceBindings"] {
  return folder === undefined ? {} : { CONSOLE: { disk: { path: folder, writable: false } } };
}

type R2Buckets = NonNullable<WorkerSettings["r2Buckets"]>;

/**
 * Returns the Worker's buckets. The bucket for exports is served to S3 clients with these credentials, or not
 * at all without any.
 */
function bucketsOf(
  { r2Buckets = {} }: WorkerSettings,
  s3Credentials: S3Credentials | undefined,
): R2Buckets {
  const own = Array.isArray(r2Buckets)
    ? Object.fromEntries(r2Buckets.map((name) => [name, name]))
    : r2Buckets;
  const exports =
    s3Credentials === undefined ? { id: LOCAL_BUCKET } : { id: LOCAL_BUCKET, s3Credentials };
  return { ...own, [LOCAL_BUCKET_BINDING]: exports };
}

/** Returns Miniflare's options for the D1 databases only, for work on them while no Worker runs. */
export function databaseMiniflareOptions(
  config: WorkerConfig,
  persistPath: string,
  runtimeEnv: Record<string, string> = {},
): MiniflareOptions {
  const { d1Databases } = config.miniflare;
  return loadMiniflare().convertV4MiniflareOptions({
    ...sharedOptions(persistPath, runtimeEnv),
    workers: [
      {
        name: config.name,
        modules: true,
        script: "",
        ...(d1Databases === undefined ? {} : { d1Databases }),
      },
    ],
  });
}

/**
 * Creates a Miniflare without its signal handlers, so that this process keeps control. Miniflare's own
 * handlers exit at once with a code above 128, before anything else could be closed.
 */
export function createMiniflare(options: MiniflareOptions): MiniflareType {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  const before = new Map(signals.map((signal) => [signal, new Set(process.listeners(signal))]));
  const { Miniflare } = loadMiniflare();
  const miniflare = new Miniflare(options);
  for (const signal of signals) {
    for (const listener of process.listeners(signal)) {
      if (!before.get(signal)?.has(listener)) process.removeListener(signal, listener);
    }
  }
  return miniflare;
}

function sharedOptions(
  persistPath: string,
  runtimeEnv: Record<string, string>,
): {
  resourcePersistencePath: string;
  unsafeRuntimeEnv: Record<string, string>;
  port: number;
  cf: false;
  log: LogType;
} {
  const { Log, LogLevel } = loadMiniflare();
  return {
    resourcePersistencePath: persistPath,
    unsafeRuntimeEnv: runtimeEnv,
    port: 0,
    cf: false,
    log: new Log(LogLevel.ERROR),
  };
}
