import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Database, localDatabase } from "../../cli/database/database.ts";
import { startPlatform } from "../../cli/serve.ts";
import type { Region } from "../../src/lib/region.ts";
import { REPO_ROOT, seedBuild } from "./built-fixtures.ts";
import { requestsTo, S3_CREDENTIALS, TEST_VARS, type TestServer } from "./server.ts";

export const REGION_SECRET = "a secret of both regions";

/** A server of a region, with its own state folder. */
export type RegionServer = TestServer & { region: Region; stateDir: string };

/**
 * Starts both regions on this machine, as two `npm start` would. Close both; a closed server keeps its state until
 * `remove`.
 */
export async function startRegions(): Promise<{
  us: RegionServer;
  eu: RegionServer;
  remove: () => Promise<void>;
}> {
  const us = await startRegion("us", { OTHER_REGION_API_HOST: "eu.api.test" });
  const remove = async (...servers: RegionServer[]) => {
    for (const server of servers) {
      await server.close();
      rmSync(server.stateDir, { recursive: true, force: true });
    }
  };
  try {
    const vars = { OTHER_REGION_API_HOST: "api.test", BILLING_URL: us.url };
    const eu = await startRegion("eu", vars, us.database);
    return { us, eu, remove: () => remove(us, eu) };
  } catch (error) {
    await remove(us);
    throw error;
  }
}

async function startRegion(
  region: Region,
  vars: Record<string, string>,
  billing?: Database,
): Promise<RegionServer> {
  const stateDir = mkdtempSync(join(tmpdir(), `threadworks-${region}-`));
  seedBuild(stateDir);
  const platform = await startPlatform({
    repoRoot: REPO_ROOT,
    configPath: join(REPO_ROOT, "test/fixtures/langgraph.json"),
    stateDir,
    port: 0,
    watch: false,
    schemas: false,
    vars: {
      ...(TEST_VARS as Record<string, string>),
      AGENT_AUTH: "api-key",
      REGION: region,
      REGION_SECRET,
      ...vars,
      LOCAL_S3_ACCESS_KEY_ID: S3_CREDENTIALS.accessKeyId,
      LOCAL_S3_SECRET_ACCESS_KEY: S3_CREDENTIALS.secretAccessKey,
    },
    onLog: () => {},
  });
  const { s3 } = platform;
  if (s3 === undefined) throw new Error("The platform has no bucket for exports");
  return {
    region,
    stateDir,
    url: platform.url,
    database: {
      ...localDatabase(platform.database("DB"), region),
      ...(billing === undefined ? {} : { billing }),
    },
    s3,
    sweep: platform.fireCron,
    ...requestsTo(platform.url),
    close: () => platform.close(),
  };
}

/** Returns the files below a folder that contain a text, as paths relative to the folder. */
export function filesWith(folder: string, text: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path).includes(text))
    .map((path) => path.slice(folder.length + 1));
}
