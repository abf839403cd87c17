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
import type { WorkerModule } from "./worker-bundle.ts";
import { callerOptions } from "./worker-calls.ts";

export type D1Config = {
  binding: string;
  database_name?: string;
  database_id?: string;
  preview_database_id?: string;
  migrations_dir?: string;
  migrations_table?: string;
};

/** Everything of a Worker's Miniflare options but its source. */
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
 * Reads `wrangler.toml`, and the `.dev.vars` beside it, as wrangler itself does. A package brings what was read of the one,
 * and the settings of the project that it serves lie elsewhere.
 */
export async function readWorkerConfig(
  repoRoot: string,
  settingsPath?: string,
): Promise<WorkerConfig> {
  if (BUILT !== undefined) return readBuiltConfig(BUILT.config, settingsPath);
  const configPath = join(repoRoot, "wrangler.toml");
  // Loaded only now: it takes longer than all else that a start needs when nothing has changed.
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

/** wrangler prints on stdout which files it reads. */
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
  /** Of a Worker that serves the console. */
  consoleFolder?: string;
  host: string;
  port: number;
  vars: Record<string, string>;
  /** Serves the bucket for exports to S3 clients; on any port when it is 0. */
  s3?: { port: number; credentials: S3Credentials };
  /** Of a Worker that has a project: answers its graph host, which asks for the schemas of a graph's types. */
  schemas?: (request: Request) => Response;
  /** Has beside the Worker what the calls of `worker-calls.ts` go through. */
  calls?: boolean;
  /** Answers the Worker, which asks how much room there is when it cannot write. */
  disk?: () => Promise<Response>;
  onLog: (log: WorkerdStructuredLog) => void;
  /** Called when workerd has crashed and runs again. */
  onCrashRestart: () => void;
};

/**
 * The Worker listens on its own socket, without the proxy Worker that Miniflare puts before its entry:
 * that hop halves the throughput. The entry only carries this process's own calls and those of S3 clients.
 */
export function serveMiniflareOptions(
  config: WorkerConfig,
  options: WorkerOptions,
): MiniflareOptions {
  // With assets of its own the Worker would not be asked directly, but by a proxy.
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

/** Those of the Worker. That for exports is served with these credentials, or without any not at all. */
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

/** Only the D1 databases, for work on them while no Worker runs. */
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
 * A Miniflare whose process still decides what a signal does. Miniflare's own handlers leave at once
 * with an exit code of 128 and more, before anything else could be closed.
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
