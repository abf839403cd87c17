import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { localDatabase } from "../../../cli/database/database.ts";
import { ensureLocalWorkspace } from "../../../cli/database/identity.ts";
import { startPlatform } from "../../../cli/serve.ts";
import { generateApiKey } from "../../../src/identity/api-key.ts";
import { FIXTURES, REPO_ROOT, seedState } from "../../support/built-fixtures.ts";

export type AgentServer = { url: string; apiKey: string; close: () => Promise<void> };

/**
 * Starts the platform as `npm start` does, on a new state directory. Every request needs the key. `config` is a
 * configuration in `test/fixtures`.
 */
export async function startAgentServer(
  vars: Record<string, string> = {},
  config = "langgraph.json",
): Promise<AgentServer> {
  const stateDir = mkdtempSync(join(tmpdir(), "threadworks-browser-"));
  const removeState = (): void => rmSync(stateDir, { recursive: true, force: true });
  const apiKey = generateApiKey("us");
  try {
    seedState(stateDir);
    const platform = await startPlatform({
      repoRoot: REPO_ROOT,
      configPath: join(FIXTURES, config),
      stateDir,
      port: 0,
      watch: false,
      vars: { AGENT_AUTH: "api-key", LOG_LEVEL: "error", ...vars },
      prepareDatabase: (database) =>
        ensureLocalWorkspace(localDatabase(database), { workspaceId: randomUUID(), apiKey }),
      onLog: ({ level, message }) => {
        if (level === "error") console.error(message);
      },
    });
    const close = async (): Promise<void> => {
      await platform.close();
      removeState();
    };
    return { url: platform.url, apiKey, close };
  } catch (error) {
    removeState();
    throw error;
  }
}
