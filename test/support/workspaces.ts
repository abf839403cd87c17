import { createKey, createWorkspace, revokeKey } from "../../cli/database/identity.ts";
import type { Plan } from "../../src/lib/plan-order.ts";
import type { TestServer } from "./server.ts";

export type TestWorkspace = {
  id: string;
  apiKey: string;
  /** Revokes the key. */
  revoke: () => Promise<void>;
};

/** Creates a workspace and a key to it, as the command line does. */
export async function makeWorkspace(
  server: TestServer,
  name: string,
  plan: Plan = "enterprise",
): Promise<TestWorkspace> {
  const workspace = await createWorkspace(server.database, name, plan);
  const workspaceId = String(workspace["id"]);
  const key = await createKey(server.database, { workspaceId, name });
  return {
    id: workspaceId,
    apiKey: String(key["key"]),
    revoke: async () => void (await revokeKey(server.database, String(key["id"]))),
  };
}
