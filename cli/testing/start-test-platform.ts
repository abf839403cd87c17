import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type * as Sdk from "@langchain/langgraph-sdk";
import { releaseLeases } from "../../src/db/tools/release-leases.ts";
import { localDatabase } from "../database/database.ts";
import { ensureLocalWorkspace } from "../database/identity.ts";
import { prepareHome } from "../prepare-home.ts";
import { REPO_ROOT } from "../invocation.ts";
import { loadProjectConfig } from "../project/langgraph-json.ts";
import { startPlatform as serve, type Platform } from "../serve.ts";
import type { StartedPlatform, TestPlatformOptions } from "./types.ts";
import { textOrEmpty } from "../../src/lib/json.ts";

/**
 * Starts a local platform that serves a project, on a free port and with an empty state, and a client of the
 * project's SDK for it. Rejects as `serveProject` does, and when the project has not installed the SDK.
 */
export async function startPlatform(options: TestPlatformOptions): Promise<StartedPlatform> {
  const { platform, projectDir, stop } = await serveProject(options);
  try {
    const apiKey = textOrEmpty(platform.vars["LOCAL_API_KEY"]);
    const client = await clientOf(projectDir, platform, apiKey);
    return { url: platform.url, apiKey, client, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type ServedProject = { platform: Platform; projectDir: string; stop: () => Promise<void> };

/**
 * Serves a project on a free port. When this resolves, graphs that do not load have been reported to `onLog`.
 * Rejects when the project does not build, with a message that says what is wrong.
 */
export async function serveProject(options: TestPlatformOptions): Promise<ServedProject> {
  const { project, env = {}, vars = {}, onLog = printProblem } = options;
  const { configPath, projectDir } = loadProjectConfig(resolve(project));
  await prepareHome(projectDir);
  const stateDir = options.state ?? mkdtempSync(join(tmpdir(), "threadworks-test-"));
  const removeState = (): void => {
    if (options.state === undefined) rmSync(stateDir, { recursive: true, force: true });
  };
  try {
    const platform = await serve({
      repoRoot: REPO_ROOT,
      configPath,
      stateDir,
      port: 0,
      watch: false,
      schemas: options.schemas ?? false,
      vars: { LOG_LEVEL: "warn", ...vars },
      shell: process.env,
      env,
      releaseLeases: (database) => releaseLeases(localDatabase(database)),
      prepareDatabase: (database, settings) =>
        ensureLocalWorkspace(localDatabase(database), {
          workspaceId: textOrEmpty(settings["AGENT_WORKSPACE_ID"]),
          apiKey: textOrEmpty(settings["LOCAL_API_KEY"]),
        }),
      onLog,
    });
    const stop = async (): Promise<void> => {
      await platform.close();
      removeState();
    };
    return { platform, projectDir, stop };
  } catch (error) {
    removeState();
    throw error;
  }
}

/** Returns a client from the project's own SDK, so that the project is tested with its own version. */
async function clientOf(
  projectDir: string,
  { url }: Platform,
  apiKey: string,
): Promise<Sdk.Client> {
  const path = createRequire(join(projectDir, "package.json")).resolve("@langchain/langgraph-sdk");
  const sdk = (await import(pathToFileURL(path).href)) as typeof Sdk;
  return new sdk.Client({ apiUrl: url, apiKey, callerOptions: { maxRetries: 0 } });
}

function printProblem({ level, message }: { level: string; message: string }): void {
  if (level !== "info") console.error(message);
}
