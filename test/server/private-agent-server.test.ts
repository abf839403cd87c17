import { describe, vi } from "vitest";
import { ensureLocalWorkspace } from "../../cli/database/identity.ts";
import { addPrivateEndpoint } from "../../cli/database/private-endpoints.ts";
import { askHost } from "../support/ask-host.ts";
import { bearer } from "../support/bearer.ts";
import { deployTemplate } from "../support/deployments.ts";
import { HOST_VARS, newTenant, type Network, type Tenant } from "../support/private-hosts.ts";
import { testWithServer, type TestServer } from "../support/server.ts";

const WORKSPACE = "0332a068-2060-45a3-a028-93bb81583853";
const VARS = { ...HOST_VARS, AGENT_WORKSPACE_ID: WORKSPACE };

const testWithUsers = testWithServer({ ...VARS, AGENT_AUTH: "api-key" }, "custom-auth");
const testWithPlatformKeys = testWithServer({ ...VARS, AGENT_AUTH: "api-key" });
const testWithoutKeys = testWithServer({ ...VARS, AGENT_AUTH: "none" });

/** Longer than a change of the private-endpoint settings takes to become visible. */
const SEEN = { timeout: 150_000, interval: 200 };

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

describe("an agent server whose project authenticates its users", () => {
  testWithUsers("is served on the hosts of its workspace", async ({ server, expect }) => {
    expect(await statuses(server, bearer("ada"))).toEqual([200, 403]);
    await enrol(server, false);
    await vi.waitFor(
      async () => expect(await statuses(server, bearer("ada"))).toEqual([200, 200]),
      SEEN,
    );
    // The platform lets the request in, and the project refuses it.
    expect(await statuses(server, {})).toEqual([401, 401]);
    await enrol(server, true);
    await vi.waitFor(
      async () => expect(await statuses(server, bearer("ada"))).toEqual([403, 200]),
      SEEN,
    );
    expect(await statuses(server, {})).toEqual([403, 401]);
  });
});

describe("a deployed agent", () => {
  testWithPlatformKeys(
    "has a private host below the private domain of agents",
    async ({ server, expect }) => {
      const recluse = await newTenant(server, "recluse", { privateOnly: true });
      const outsider = await newTenant(server, "outsider", null);
      const urlOf = (tenant: Tenant, network: Network, name: string) =>
        deployTemplate(
          {
            ...tenant,
            apiKey: "",
            call: (method, path, body) => tenant.ask(network, method, `/v2${path}`, body),
          },
          name,
        );
      expect(await urlOf(recluse, "private", "hidden")).toBe("https://hidden.agents.test");
      expect(await urlOf(outsider, "public", "open")).toBe("https://open.agents.test");

      const asked = async (tenant: Tenant, host: string) => {
        const options = { method: "POST", headers: { "x-api-key": tenant.apiKey }, body: {} };
        const { status } = await askHost(server, host, "/threads/search", options);
        return status;
      };
      expect(await asked(recluse, "hidden.us.p.agents.test")).toBe(200);
      expect(await asked(recluse, "hidden.agents.test")).toBe(403);
      expect(await asked(outsider, "open.us.p.agents.test")).toBe(403);
      expect(await asked(outsider, "open.agents.test")).toBe(200);
      // The deployments belong to another workspace, so they are not found on any host.
      expect(await asked(recluse, "open.us.p.agents.test")).toBe(404);
      expect(await asked(outsider, "hidden.agents.test")).toBe(404);
    },
  );
});

describe("an agent server without keys", () => {
  testWithoutKeys("is served on the hosts of its workspace", async ({ server, expect }) => {
    expect(await statuses(server, {})).toEqual([200, 403]);
    await enrol(server, true);
    await vi.waitFor(async () => expect(await statuses(server, {})).toEqual([403, 200]), SEEN);
  });
});
