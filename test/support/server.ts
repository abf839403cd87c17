import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@langchain/langgraph-sdk";
import { test as base } from "vitest";
import { localDatabase, type Database } from "../../cli/database/database.ts";
import { CONSOLE_FOLDER } from "../../cli/installation.ts";
import { prepareDatabases } from "../../cli/platform/local-databases.ts";
import { type LocalS3, localS3, S3_HOST } from "../../cli/platform/local-s3.ts";
import { workerModules } from "../../cli/platform/worker-modules.ts";
import { databaseOf, fireScheduled } from "../../cli/platform/worker-calls.ts";
import {
  createMiniflare,
  serveMiniflareOptions,
  type WorkerConfig,
} from "../../cli/platform/worker-options.ts";
import { watchAnswers } from "./documented-answers.ts";
import { BUILT_WORKER, builtConfig, builtProject, seedDatabases } from "./built-fixtures.ts";

/** Variables: text, or a table as in wrangler.toml. */
export type TestVars = Record<string, string | Record<string, number>>;

/** Default variables of the server. No keys are required, so that most tests need none. */
export const TEST_VARS: TestVars = {
  AGENT_AUTH: "none",
  RATE_LIMITS: "off",
  LOG_LEVEL: "error",
  SIGNING_SECRET: "a secret of the tests and of nothing else",
  PROJECT_ENV: JSON.stringify({
    FIXTURE_VALUE: "from the test server",
    LANGCHAIN_CALLBACKS_BACKGROUND: "true",
  }),
  ENCRYPTION_KEYS: `1:${Buffer.alloc(32, "key of the tests").toString("base64url")}`,
  EXPORT_PRIVATE_ENDPOINTS: "allow",
  OUTBOUND_PRIVATE_ENDPOINTS: "allow",
};

export const S3_CREDENTIALS = { accessKeyId: "test-key-id", secretAccessKey: "test-secret" };

const ROLLOUT_QUEUE = "threadworks-rollouts";

/** Without rollouts a revision stays as the API created it, and a deployment is never completely deleted. */
export type ServerOptions = {
  rollouts: boolean;
  /** Bindings of D1 databases in addition to DB. */
  databases?: readonly string[];
};

type ClientOptions = { apiKey?: string; headers?: Record<string, string> };

/** A server on loopback with an empty database. */
export type TestServer = {
  /** Base URL, without a trailing slash. */
  url: string;
  database: Database;
  /** A bucket for exports, which is part of the server. */
  s3: LocalS3;
  /** Does what the cron trigger does every minute. */
  sweep: () => Promise<void>;
  /** Returns the official client. It does not retry failed requests. */
  client: (options?: ClientOptions) => Client;
  fetch: (path: string, init?: RequestInit) => Promise<Response>;
  close: () => Promise<void>;
};

type Miniflare = ReturnType<typeof createMiniflare>;

/** A server that gives access to its Worker and bindings. */
export type WorkerServer = TestServer & {
  bindings: () => Promise<Record<string, unknown>>;
  worker: () => ReturnType<Miniflare["getWorker"]>;
};

/**
 * Serves the Worker of `wrangler.toml` with the graphs of `test/fixtures`, on any free port: as `npm start` does, but
 * without the parts for people who edit a project and for the remains of an earlier start.
 */
export async function startServer(
  vars: TestVars,
  project: string,
  options: ServerOptions,
): Promise<WorkerServer> {
  const persistPath = mkdtempSync(join(tmpdir(), "threadworks-server-"));
  seedDatabases(persistPath);
  const config = serverConfig(vars, options);
  await prepareDatabases({ config, persistPath, runtimeEnv: {}, prepare: async () => {} });
  const miniflare = createMiniflare(
    serveMiniflareOptions(config, {
      persistPath,
      runtimeEnv: {},
      modules: workerModules({ worker: BUILT_WORKER, project: builtProject(project) }, []),
      consoleFolder: CONSOLE_FOLDER,
      host: S3_HOST,
      port: 0,
      vars: {},
      s3: { port: 0, credentials: S3_CREDENTIALS },
      calls: true,
      onCrashRestart: () => console.error("workerd crashed"),
      onLog: ({ level, message }) => {
        if (level === "error") console.error(message);
      },
    }),
  );
  const url = await miniflare.unsafeGetDirectURL();
  const { port } = await miniflare.ready;
  const unwatch = watchAnswers(url.origin);
  const database = localDatabase(
    databaseOf(miniflare, "DB"),
    vars["REGION"] === "eu" ? "eu" : "us",
  );
  return {
    url: url.origin,
    bindings: () => miniflare.getBindings(),
    worker: () => miniflare.getWorker(),
    database: {
      ...database,
      run: (sql, values) => onOpenConnection(() => database.run(sql, values)),
    },
    s3: localS3(Number(port), S3_CREDENTIALS),
    sweep: () => onOpenConnection(() => fireScheduled(miniflare, "* * * * *")),
    ...requestsTo(url.origin),
    close: async () => {
      unwatch();
      await miniflare.dispose();
      rmSync(persistPath, { recursive: true, force: true });
    },
  };
}

/**
 * Repeats a request whose connection had been closed: workerd closes connections that are idle for five seconds, and a
 * test that has kept this process busy for as long has not noticed this at its next request.
 */
async function onOpenConnection<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    const { cause } = error as Error;
    if (!(cause instanceof Error) || cause.message !== "other side closed") throw error;
    return ask();
  }
}

/** Returns functions that send requests to the server. */
export function requestsTo(url: string): Pick<TestServer, "client" | "fetch"> {
  return {
    client: ({ apiKey, headers = {} } = {}) =>
      new Client({
        apiUrl: url,
        apiKey: apiKey ?? null,
        defaultHeaders: headers,
        callerOptions: { maxRetries: 0 },
      }),
    fetch: (path, init) => fetch(new URL(path, url), init),
  };
}

/**
 * Returns a `test` whose file shares one server: `({ server, client, expect }) => ...`. `project` is one that
 * `build-fixtures.ts` builds.
 */
export function testWithServer(
  vars: TestVars = {},
  project = "project",
  options: ServerOptions = { rollouts: true },
) {
  return base
    .extend("vars", { scope: "file" }, () => vars)
    .extend("server", { scope: "file" }, async ({ vars }, { onCleanup }) => {
      const server = await startServer(vars, project, options);
      onCleanup(() => server.close());
      return server;
    })
    .extend("client", ({ server }) => server.client());
}

function serverConfig(vars: TestVars, { rollouts, databases = [] }: ServerOptions): WorkerConfig {
  const config = builtConfig();
  const { bindings, queueConsumers = {}, d1Databases } = config.miniflare;
  if (Array.isArray(queueConsumers) || Array.isArray(d1Databases)) {
    throw new Error("Read of wrangler.toml, queues and databases are tables");
  }
  const consumers = Object.entries(queueConsumers);
  const { migrationsDir, table } = config.databases.find(({ binding }) => binding === "DB") ?? {};
  return {
    ...config,
    databases: [
      ...config.databases,
      ...databases.map((binding) => ({ binding, migrationsDir, table })),
    ],
    miniflare: {
      ...config.miniflare,
      bindings: { ...bindings, ...TEST_VARS, ...vars },
      d1Databases: {
        ...d1Databases,
        ...Object.fromEntries(databases.map((binding) => [binding, { id: binding }])),
      },
      queueConsumers: Object.fromEntries(
        consumers.filter(([queue]) => rollouts || queue !== ROLLOUT_QUEUE),
      ),
    },
  };
}
