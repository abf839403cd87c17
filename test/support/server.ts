import { join, resolve } from "node:path";
import { Client } from "@langchain/langgraph-sdk";
import { test as base } from "vitest";
import {
  createTestHarness,
  unstable_readConfig,
  type TestHarnessOptions,
  type WorkerHandle,
} from "wrangler";
import { localDatabase, type Database } from "../../cli/database/database.ts";
import {
  LOCAL_BUCKET,
  LOCAL_BUCKET_BINDING,
  type LocalS3,
  localS3,
} from "../../cli/platform/local-s3.ts";
import { WORKER_MODULE } from "../../cli/platform/worker-bundle.ts";
import type { D1, D1Config } from "../../cli/platform/worker-options.ts";
import { watchAnswers } from "./documented-answers.ts";
import { builtProject, REPO_ROOT } from "./built-fixtures.ts";

/** Text, or a table as in wrangler.toml. */
export type TestVars = Record<string, string | Record<string, number>>;

/** Of the server, unless a test file gives others. Without keys, so that most tests need none. */
export const TEST_VARS: TestVars = {
  AGENT_AUTH: "none",
  RATE_LIMITS: "off",
  LOG_LEVEL: "error",
  SIGNING_SECRET: "a secret of the tests and of nothing else",
  PROJECT_ENV: JSON.stringify({ FIXTURE_VALUE: "from the test server" }),
  ENCRYPTION_KEYS: `1:${Buffer.alloc(32, "key of the tests").toString("base64url")}`,
  EXPORT_PRIVATE_ENDPOINTS: "allow",
  OUTBOUND_PRIVATE_ENDPOINTS: "allow",
};

export const S3_CREDENTIALS = { accessKeyId: "test-key-id", secretAccessKey: "test-secret" };

const EXPORT_BUCKET = {
  binding: LOCAL_BUCKET_BINDING,
  bucket_name: LOCAL_BUCKET,
  local_dev: { experimental_s3_credentials: S3_CREDENTIALS },
};

const ROLLOUT_QUEUE = "threadworks-rollouts";

/** Without rollouts a revision stays as the API made it, and a deployment is never gone. */
export type ServerOptions = {
  rollouts: boolean;
  /** Bindings of D1 databases beside DB. */
  databases?: readonly string[];
};

type ClientOptions = { apiKey?: string; headers?: Record<string, string> };

/** A server on loopback with an empty database. */
export type TestServer = {
  /** Without a slash at its end. */
  url: string;
  database: Database;
  /** A bucket that the server itself has, for exports. */
  s3: LocalS3;
  /** Does what the cron trigger does once a minute. */
  sweep: () => Promise<void>;
  /** The official client. A failed request fails: it is not tried again. */
  client: (options?: ClientOptions) => Client;
  fetch: (path: string, init?: RequestInit) => Promise<Response>;
  close: () => Promise<void>;
};

/** A server that lends its Worker's bindings. */
export type WorkerServer = TestServer & { worker: WorkerHandle };

/** Serves the Worker of `wrangler.toml` with the graphs of `test/fixtures`, on any free port. */
export async function startServer(
  vars: TestVars,
  project: string,
  options: ServerOptions,
): Promise<WorkerServer> {
  // Otherwise it prints a line for each message of a queue.
  process.env["WRANGLER_LOG"] ??= "error";
  const harness = createTestHarness(harnessOptions(vars, builtProject(project), options));
  const { url } = await harness.listen();
  const worker = harness.getWorker();
  for (const binding of ["DB", ...(options.databases ?? [])]) {
    await worker.applyD1Migrations(binding);
  }
  const unwatch = watchAnswers(url.origin);
  const { DB }: { DB: D1 } = (await worker.getEnv()) as { DB: D1 };
  return {
    url: url.origin,
    worker,
    database: localDatabase(DB, vars["REGION"] === "eu" ? "eu" : "us"),
    s3: localS3(Number(url.port), S3_CREDENTIALS),
    sweep: async () => {
      await worker.scheduled({ cron: "* * * * *", scheduledTime: new Date() });
    },
    ...requestsTo(url.origin),
    close: () => {
      unwatch();
      return harness.close();
    },
  };
}

/** Ways to ask the server. */
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
 * A `test` whose file shares one server: `({ server, client, expect }) => ...`. `project` is one
 * that `build-fixtures.ts` makes.
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

function harnessOptions(
  vars: TestVars,
  built: string,
  { rollouts, databases = [] }: ServerOptions,
): TestHarnessOptions {
  const read = unstable_readConfig(
    { config: resolve(REPO_ROOT, "wrangler.toml") },
    { hideWarnings: true },
  );
  const { consumers = [] } = read.queues;
  const isConsumed = ({ queue }: { queue: string }) => rollouts || queue !== ROLLOUT_QUEUE;
  return {
    // Not the repository's root: a .dev.vars beside wrangler.toml would win over the vars below.
    root: built,
    workers: [
      {
        config: {
          name: read.name,
          main: join(built, WORKER_MODULE),
          base_dir: built,
          no_bundle: true,
          find_additional_modules: true,
          rules: [{ type: "ESModule", globs: ["*.js"] }],
          compatibility_date: read.compatibility_date,
          compatibility_flags: read.compatibility_flags,
          d1_databases: [
            ...(read.d1_databases as D1Config[]),
            ...databases.map((binding) => ({ binding })),
          ].map(databaseConfig),
          durable_objects: read.durable_objects,
          queues: { ...read.queues, consumers: consumers.filter(isConsumed) },
          worker_loaders: read.worker_loaders,
          r2_buckets: [
            ...(read.r2_buckets as { binding: string }[]).filter(
              ({ binding }) => binding !== LOCAL_BUCKET_BINDING,
            ),
            EXPORT_BUCKET,
          ],
          migrations: read.migrations,
          vars: { ...read.vars, ...TEST_VARS, ...vars },
        },
      },
    ],
  };
}

function databaseConfig({ binding, migrations_dir = "migrations" }: D1Config) {
  return {
    binding,
    database_name: binding,
    database_id: binding,
    migrations_dir: resolve(REPO_ROOT, migrations_dir),
  };
}
