import { describe, vi } from "vitest";
import { ensureLocalWorkspace } from "../../cli/database/identity.ts";
import { addPrivateEndpoint } from "../../cli/database/private-endpoints.ts";
import { askHost } from "../support/ask-host.ts";
import { bearer } from "../support/bearer.ts";
import { HOST_VARS } from "../support/private-hosts.ts";
import { testWithServer, type TestServer } from "../support/server.ts";

const WORKSPACE = "0332a068-2060-45a3-a028-93bb81583853";
const VARS = { ...HOST_VARS, AGENT_WORKSPACE_ID: WORKSPACE };

const testWithUsers = testWithServer({ ...VARS, AGENT_AUTH: "api-key" }, "custom-auth.js");
const testWithoutKeys = testWithServer({ ...VARS, AGENT_AUTH: "none" });

/** Longer than a change of an enrolment takes to be seen. */
const SEEN = { timeout: 15_000, interval: 200 };

async function statuses(server: TestServer, headers: Record<string, string>): Promise<number[]> {
  const options = { method: "POST", headers, body: {} };
  const hosts = [HOST_VARS.AGENTS_DOMAIN, `us.p.${HOST_VARS.AGENTS_DOMAIN}`];
  const asked = hosts.map((host) => askHost(server, host, "/threads/search", options));
  return (await Promise.all(asked)).map(({ status }) => status);
}

async function enrol(server: TestServer, privateOnly: boolean): Promise<void> {
  await ensureLocalWorkspace(server.database, { workspaceId: WORKSPACE, apiKey: "" });
  await addPrivateEndpoint(server.database, WORKSPACE, { privateOnly, networks: [] });
}

describe("an agent server whose project knows its users", () => {
  testWithUsers(
    "is on the hosts that its workspace is on",
    { timeout: 60_000 },
    async ({ server, expect }) => {
      expect(await statuses(server, bearer("ada"))).toEqual([200, 403]);
      await enrol(server, false);
      await vi.waitFor(
        async () => expect(await statuses(server, bearer("ada"))).toEqual([200, 200]),
        SEEN,
      );
      // The project refuses, once the platform has let in.
      expect(await statuses(server, {})).toEqual([401, 401]);
      await enrol(server, true);
      await vi.waitFor(
        async () => expect(await statuses(server, bearer("ada"))).toEqual([403, 200]),
        SEEN,
      );
      expect(await statuses(server, {})).toEqual([403, 401]);
    },
  );
});

describe("an agent server without keys", () => {
  testWithoutKeys("is on the hosts that its workspace is on", async ({ server, expect }) => {
    expect(await statuses(server, {})).toEqual([200, 403]);
    await enrol(server, true);
    await vi.waitFor(async () => expect(await statuses(server, {})).toEqual([403, 200]), SEEN);
  });
});
