import { createKey, ensureLocalWorkspace } from "../../cli/database/identity.ts";
import type { TestServer, TestVars } from "./server.ts";

type Limits = Record<string, { count: number; seconds: number }>;

/** A workspace whose limits are configured when the server starts. */
const WORKSPACE_ID = "6f1c6a52-0f0e-4a3c-9a54-2f1f6a1c2b3d";

export function limitedVars(limits: Limits): TestVars {
  return { RATE_LIMITS: "on", RATE_LIMIT_OVERRIDES: JSON.stringify({ [WORKSPACE_ID]: limits }) };
}

/** Creates a key of that workspace, for which nothing has been counted yet. */
export async function newLimitedKey(server: TestServer): Promise<string> {
  await ensureLocalWorkspace(server.database, { workspaceId: WORKSPACE_ID, apiKey: "" });
  const key = await createKey(server.database, { workspaceId: WORKSPACE_ID, name: "limited" });
  return String(key["key"]);
}
