import { Client } from "@langchain/langgraph-sdk";
import { describe } from "vitest";
import { askHost } from "../support/ask-host.ts";
import { newDeployer } from "../support/deployments.ts";
import { testWithPlatform } from "../support/platform-server.ts";

const POLL_MS = 20;

const test = testWithPlatform().extend("deployer", { scope: "file" }, ({ server }) =>
  newDeployer(server, "developer"),
);

describe("the quick start with plain requests", () => {
  test("creates, reads, polls until DEPLOYED, calls, patches and rolls out the next revision", async ({
    server,
    deployer,
    expect,
  }) => {
    const headers = { "X-Api-Key": deployer.apiKey, "Content-Type": "application/json" };
    const api = async (method: string, path: string, body?: unknown) => {
      const init = body === undefined ? {} : { body: JSON.stringify(body) };
      const response = await fetch(`${server.url}/v2${path}`, { method, headers, ...init });
      expect(response.ok).toBe(true);
      return response.json();
    };
    const untilDeployed = async (id: string, revisionId: string): Promise<void> => {
      for (;;) {
        const { status } = await api("GET", `/deployments/${id}/revisions/${revisionId}`);
        if (status === "DEPLOYED") return;
        expect(status).not.toContain("FAILED");
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
    };

    const created = await api("POST", "/deployments", {
      name: "my_agent",
      source: "internal_template",
      source_config: { template_id: "agent" },
      source_revision_config: {},
      secrets: [],
    });
    const read = await api("GET", `/deployments/${created.id}`);
    expect(read.latest_revision_id).toBe(created.latest_revision_id);
    await untilDeployed(created.id, created.latest_revision_id);

    const { source_config } = await api("GET", `/deployments/${created.id}`);
    expect(source_config.custom_url).toBe(`${server.url}/deployments/my-agent`);
    const client = new Client({ apiUrl: source_config.custom_url, apiKey: deployer.apiKey });
    const ask = async (): Promise<string> => {
      const input = { messages: [{ role: "user", content: "What is 20 + 22?" }] };
      const { thread_id } = await client.threads.create();
      return JSON.stringify(await client.runs.wait(thread_id, "agent", { input }));
    };
    expect(await ask()).toContain("42");

    const change = { secrets: [{ name: "NEW_SECRET", value: "value" }] };
    const patched = await api("PATCH", `/deployments/${created.id}`, change);
    expect(patched.latest_revision_id).not.toBe(created.latest_revision_id);
    await untilDeployed(created.id, patched.latest_revision_id);
    const updated = await api("GET", `/deployments/${created.id}`);
    expect(updated.active_revision_id).toBe(patched.latest_revision_id);
    expect(await ask()).toContain("42");
  });
});

test.for(["a:b:c", "a:99999", "x y", "["])(
  "a request with an invalid Host gets a 400: %s",
  async (host, { server, expect }) => {
    expect((await askHost(server, host, "/ok")).status).toBe(400);
  },
);
