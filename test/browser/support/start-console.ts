import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { localDatabase } from "../../../cli/database/database.ts";
import { ensureLocalWorkspace } from "../../../cli/database/identity.ts";
import { startPlatform } from "../../../cli/serve.ts";
import { generateApiKey } from "../../../src/identity/api-key.ts";

const REPO_ROOT = resolve(import.meta.dirname, "../../..");

export type ConsoleServer = { url: string; apiKey: string; close: () => Promise<void> };

/** The platform with the example agents and open to this machine, as `npm start` serves it, on a new state directory. */
export async function startConsole(configPath = REPO_ROOT): Promise<ConsoleServer> {
  const stateDir = mkdtempSync(join(tmpdir(), "threadworks-console-"));
  const removeState = (): void => rmSync(stateDir, { recursive: true, force: true });
  const apiKey = generateApiKey("us");
  const workspaceId = randomUUID();
  try {
    const platform = await startPlatform({
      repoRoot: REPO_ROOT,
      configPath,
      stateDir,
      port: 0,
      watch: false,
      schemas: true,
      vars: { AGENT_AUTH: "none", AGENT_WORKSPACE_ID: workspaceId, LOG_LEVEL: "error" },
      prepareDatabase: (database) =>
        ensureLocalWorkspace(localDatabase(database), { workspaceId, apiKey }),
      onLog: ({ level, message }) => {
        if (level === "error") console.error(message);
      },
    });
    const close = async (): Promise<void> => {
      await platform.close();
      removeState();
    };
    return { url: platform.url.replace("127.0.0.1", "localhost"), apiKey, close };
  } catch (error) {
    removeState();
    throw error;
  }
}
