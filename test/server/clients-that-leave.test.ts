import { once } from "node:events";
import { connect } from "node:net";
import { describe, vi } from "vitest";
import { dayOf } from "../../src/lib/utc-day.ts";
import { testWithPlatform } from "../support/platform-server.ts";
import type { TestServer } from "../support/server.ts";
import { tracingWorkspace } from "../support/tracing.ts";
import { runData } from "../support/trace-data.ts";

const test = testWithPlatform({ AGENT_AUTH: "api-key" }, "test/worker/counting-worker.ts");

const START = new Date("2026-03-01T00:00:00Z");

/** A filter that matches nothing and is expensive to evaluate. */
const FILTER = `and(${Array.from({ length: 8 }, () => `like(name, "%${"a_".repeat(30)}b%")`).join(", ")})`;

type Asked = { path: string; body: object };

const LONG = {
  "a query of runs": { path: "/api/v1/runs/query", body: { filter: FILTER } },
  statistics: { path: "/api/v1/runs/stats", body: { filter: FILTER } },
  "a search over threads": {
    path: "/threads/search",
    body: { metadata: { customer: "nobody" } },
  },
} satisfies Record<string, Asked>;

async function turnsOf(server: TestServer): Promise<number> {
  return (await (await server.fetch("/turns")).json()) as number;
}

async function post(server: TestServer, path: string): Promise<void> {
  const response = await server.fetch(path, { method: "POST" });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
}

/** Sends a request, and returns a function that resets the connection. */
async function sendRaw(
  server: TestServer,
  { path, body, headers }: Asked & { headers: Record<string, string> },
): Promise<() => Promise<void>> {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  const text = JSON.stringify(body);
  const lines = Object.entries({ host: hostname, ...headers, "content-length": text.length });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  socket.write(`POST ${path} HTTP/1.1\r\n${head}\r\n${text}`);
  return async () => {
    const closed = once(socket, "close");
    socket.resetAndDestroy();
    await closed;
  };
}

describe("when its client leaves", () => {
  test.for(Object.entries(LONG))(
    "%s stops",
    async ([title, { path, body }], { server, expect }) => {
      const workspace = await tracingWorkspace(server, title);
      const headers = { "x-api-key": workspace.apiKey, "content-type": "application/json" };
      const ask = async (): Promise<void> => {
        const request = { method: "POST", headers, body: JSON.stringify(body) };
        const response = await server.fetch(path, request);
        expect({ status: response.status, text: await response.text() }).toMatchObject({
          status: 200,
        });
      };
      if (path === "/threads/search") {
        const thread = await server.fetch("/threads", { method: "POST", headers, body: "{}" });
        expect(thread.status).toBe(200);
        await post(server, `/copy-threads?workspace=${workspace.id}&count=200000`);
      } else {
        const run = runData("p", { start: START });
        expect((await workspace.api("POST", "/runs", run)).status).toBe(202);
        const { id } = await workspace.client.readProject({ projectName: "p" });
        const shard = `${workspace.id}/${id}/${dayOf(START.getTime() * 1000)}/0`;
        await post(server, `/copy-runs?shard=${encodeURIComponent(shard)}&count=200`);
      }

      const before = await turnsOf(server);
      await ask();
      const all = (await turnsOf(server)) - before;
      expect(all).toBeGreaterThan(20);

      const leave = await sendRaw(server, { path, body, headers });
      await vi.waitUntil(async () => (await turnsOf(server)) >= before + all + 2, {
        timeout: 150_000,
        interval: 1,
      });
      await leave();
      // The object serves requests in turns: with another request beside it, the abandoned one would come to its end.
      await ask();
      expect((await turnsOf(server)) - before - 2 * all).toBeLessThan(all / 2);
    },
  );
});
