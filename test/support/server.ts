import { resolve } from "node:path";
import { Client } from "@langchain/langgraph-sdk";
import { test as base } from "vitest";
import {
  createTestHarness,
  unstable_readConfig,
  type TestHarnessOptions,
  type WorkerHandle,
} from "wrangler";
import { localDatabase, type Database } from "../../cli/database/database.ts";
import type { D1, D1Config } from "../../cli/platform/worker-options.ts";

const REPO_ROOT = resolve(import.meta.dirname, "../..");
const PROJECTS = resolve(REPO_ROOT, ".threadworks/test");

/** Of the server, unless a test file gives others. Without keys, so that most tests need none. */
const TEST_VARS = {
  AGENT_AUTH: "none",
  LOG_LEVEL: "error",
  SIGNING_SECRET: "a secret of the tests and of nothing else",
  PROJECT_ENV: JSON.stringify({ FIXTURE_VALUE: "from the test server" }),
};

type ClientOptions = { apiKey?: string; headers?: Record<string, string> };

/** A server on loopback with an empty database. */
export type TestServer = {
  /** Without a slash at its end. */
  url: string;
  worker: WorkerHandle;
  database: Database;
  /** The official client. A failed request fails: it is not tried again. */
  client: (options?: ClientOptions) => Client;
  fetch: (path: string, init?: RequestInit) => Promise<Response>;
  close: () => Promise<void>;
};

/** Serves the Worker of `wrangler.toml` with the graphs of `test/fixtures`, on any free port. */
async function startServer(vars: Record<string, string>, project: string): Promise<TestServer> {
  const harness = createTestHarness(harnessOptions(vars, resolve(PROJECTS, project)));
  const { url } = await harness.listen();
  const worker = harness.getWorker();
  await worker.applyD1Migrations("DB");
  const { DB }: { DB: D1 } = (await worker.getEnv()) as { DB: D1 };
  return {
    url: url.origin,
    worker,
    database: localDatabase(DB),
    client: ({ apiKey, headers = {} } = {}) =>
      new Client({
        apiUrl: url.origin,
        apiKey: apiKey ?? null,
        defaultHeaders: headers,
        callerOptions: { maxRetries: 0 },
      }),
    fetch: (path, init) => fetch(new URL(path, url), init),
    close: () => harness.close(),
  };
}

/**
 * A `test` whose file shares one server: `({ server, client, expect }) => ...`. `project` is a module
 * that `build-fixtures.ts` makes.
 */
export function testWithServer(vars: Record<string, string> = {}, project = "project.js") {
  return base
    .extend("vars", { scope: "file" }, () => vars)
    .extend("server", { scope: "file" }, async ({ vars }, { onCleanup }) => {
      const server = await startServer(vars, project);
      onCleanup(() => server.close());
      return server;
    })
    .extend("client", ({ server }) => server.client());
}

function harnessOptions(vars: Record<string, string>, project: string): TestHarnessOptions {
  const read = unstable_readConfig(
    { config: resolve(REPO_ROOT, "wrangler.toml") },
    { hideWarnings: true },
  );
  return {
    // Not the repository's root: a .dev.vars beside wrangler.toml would win over the vars below.
    root: PROJECTS,
    workers: [
      {
        config: {
          name: read.name,
          main: read.main,
          compatibility_date: read.compatibility_date,
          compatibility_flags: read.compatibility_flags,
          d1_databases: (read.d1_databases as D1Config[]).map(databaseConfig),
          durable_objects: read.durable_objects,
          r2_buckets: read.r2_buckets,
          migrations: read.migrations,
          alias: { "#project": project },
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
