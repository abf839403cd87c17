import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, inject, test, vi } from "vitest";
import type { HttpInfo } from "../../src/graph-runtime/http-info.ts";
import { migrateIndex } from "./support.ts";

const HTTP: HttpInfo = {
  app: true,
  app_auth: true,
  disabled: [],
  mount_prefix: "/base",
  configurable_headers: null,
  logging_headers: { includes: ["x-*", "authorization"], excludes: ["x-hidden"] },
  cors: null,
};

const HOST = {
  describe: async () => ({ graphs: [], langgraph_version: "0", auth: null, http: HTTP, ui: {} }),
  fetch: async () => new Response("the app's"),
};

/** Loads new modules: they cache the project's description, and files share an isolate. */
async function ownApp() {
  vi.resetModules();
  const { createApp } = await import("../../src/app.ts");
  return createApp();
}

beforeAll(() => migrateIndex(inject("migrations")));

afterEach(() => {
  vi.resetModules();
  vi.restoreAllMocks();
});

test("a request to a project's app is logged as one line, with the headers that the project selects", async ({
  expect,
}) => {
  const lines: Record<string, unknown>[] = [];
  vi.spyOn(console, "info").mockImplementation((line: string) => {
    lines.push(JSON.parse(line) as Record<string, unknown>);
  });
  const ctx = Object.assign(Object.create(createExecutionContext()), {
    exports: { GraphHost: () => HOST },
    waitUntil: () => {},
  }) as ExecutionContext;
  const headers = {
    "x-shown": "s".repeat(300),
    "x-hidden": "secret",
    "x-key": `tw_us_${"a".repeat(43)}`,
    authorization: "Bearer secret",
    "x-request-id": "mine",
  };
  const request = new Request("http://localhost/base/secret-token", { headers });
  const bindings = { ...env, AGENT_AUTH: "none", LOG_LEVEL: "info" };
  const app = await ownApp();
  const response = await app.fetch(request, bindings, ctx);
  expect(await response.text()).toBe("the app's");
  expect(response.headers.get("x-request-id")).toBe("mine");
  expect(lines).toMatchObject([
    { route: "http.app", request_id: "mine", status: 200, "headers.x-shown": "s".repeat(200) },
  ]);
  expect(JSON.stringify(lines)).not.toMatch(/secret|tw_us_|hidden|authorization/);
});
