import { randomBytes, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { localDatabase } from "../../../cli/database/database.ts";
import { ensureLocalWorkspace } from "../../../cli/database/identity.ts";
import type { LocalS3 } from "../../../cli/platform/local-s3.ts";
import { startPlatform } from "../../../cli/serve.ts";
import { generateApiKey } from "../../../src/identity/api-key.ts";
import { PREPARED_EXAMPLES, REPO_ROOT, seedState } from "../../support/built-fixtures.ts";

export type ConsoleServer = {
  url: string;
  apiKey: string;
  /** The export bucket that `npm start` serves. */
  s3: LocalS3;
  close: () => Promise<void>;
};

/** Settings as the set-up writes them into a new `.dev.vars`. */
const SETTINGS = {
  AGENT_AUTH: "none",
  EXPORT_PRIVATE_ENDPOINTS: "allow",
  LOCAL_S3_ACCESS_KEY_ID: randomBytes(10).toString("hex"),
  LOCAL_S3_SECRET_ACCESS_KEY: randomBytes(30).toString("base64url"),
  SIGNING_SECRET: randomBytes(32).toString("base64url"),
  ENCRYPTION_KEYS: `1:${randomBytes(32).toString("base64url")}`,
};

/**
 * Starts the platform as `npm start` does, with the example agents and open to this machine, on a new state directory.
 * The given variables override those of the set-up.
 */
export async function startConsole(given: Record<string, string> = {}): Promise<ConsoleServer> {
  const stateDir = mkdtempSync(join(tmpdir(), "threadworks-console-"));
  const removeState = (): void => rmSync(stateDir, { recursive: true, force: true });
  const apiKey = generateApiKey("us");
  const workspaceId = randomUUID();
  try {
    seedState(stateDir, PREPARED_EXAMPLES);
    const platform = await startPlatform({
      repoRoot: REPO_ROOT,
      configPath: REPO_ROOT,
      stateDir,
      port: 0,
      watch: false,
      schemas: true,
      vars: { ...SETTINGS, AGENT_WORKSPACE_ID: workspaceId, LOG_LEVEL: "error", ...given },
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
    if (platform.s3 === undefined) throw new Error("The platform serves no bucket");
    const url = platform.url.replace("127.0.0.1", "localhost");
    return { url, apiKey, s3: platform.s3, close };
  } catch (error) {
    removeState();
    throw error;
  }
}
