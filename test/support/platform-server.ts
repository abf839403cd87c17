import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test as base } from "vitest";
import { localDatabase } from "../../cli/database/database.ts";
import { startPlatform } from "../../cli/serve.ts";
import { REPO_ROOT, seedState } from "./built-fixtures.ts";
import { requestsTo, S3_CREDENTIALS, TEST_VARS, type TestServer, type TestVars } from "./server.ts";

/**
 * Serves the Worker as `npm start` does, so that its own requests leave workerd directly. The requests of the other
 * test server pass through Node.js, which turns broken connections into answers.
 */
async function startPlatformServer(vars: TestVars, workerMain?: string): Promise<TestServer> {
  const stateDir = mkdtempSync(join(tmpdir(), "threadworks-platform-"));
  seedState(stateDir);
  const platform = await startPlatform({
    repoRoot: REPO_ROOT,
    configPath: join(REPO_ROOT, "test/fixtures/langgraph.json"),
    stateDir,
    port: 0,
    watch: false,
    schemas: false,
    ...(workerMain === undefined ? {} : { workerMain: join(REPO_ROOT, workerMain) }),
    vars: {
      ...textVars({ ...TEST_VARS, ...vars }),
      LOCAL_S3_ACCESS_KEY_ID: S3_CREDENTIALS.accessKeyId,
      LOCAL_S3_SECRET_ACCESS_KEY: S3_CREDENTIALS.secretAccessKey,
    },
    onLog: ({ level, message }) => {
      if (level !== "info") console.error(message);
    },
  });
  const { s3 } = platform;
  if (s3 === undefined) throw new Error("The platform has no bucket for exports");
  return {
    url: platform.url,
    database: localDatabase(platform.database("DB"), vars["REGION"] === "eu" ? "eu" : "us"),
    s3,
    sweep: platform.fireCron,
    ...requestsTo(platform.url),
    close: async () => {
      await platform.close();
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
}

function textVars(vars: TestVars): Record<string, string> {
  return Object.fromEntries(
    Object.entries(vars).map(([name, value]) => [
      name,
      typeof value === "string" ? value : JSON.stringify(value),
    ]),
  );
}

/** Returns a `test` whose file shares one platform; `workerMain` is an entry module in place of the Worker's own. */
export function testWithPlatform(vars: TestVars = {}, workerMain?: string) {
  return base
    .extend("vars", { scope: "file" }, () => vars)
    .extend("server", { scope: "file" }, async ({ vars }, { onCleanup }) => {
      const server = await startPlatformServer(vars, workerMain);
      onCleanup(() => server.close());
      return server;
    });
}
