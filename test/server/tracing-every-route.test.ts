import { describe } from "vitest";
import { ingestWorkspace, runPart, type IngestWorkspace } from "../support/ingest.ts";
import type { TestServer } from "../support/server.ts";
import { testWithSharedServer } from "../support/shared-server.ts";
import {
  answerWithout,
  documentedRoutes,
  fill,
  type PathIds,
  type Route,
} from "../support/tenancy.ts";
import { runData } from "../support/trace-data.ts";
import { MISSING_ID } from "../support/uuid.ts";

const test = testWithSharedServer();

const IDS: PathIds = {
  run_id: MISSING_ID,
  trace_id: MISSING_ID,
  session_id: MISSING_ID,
  feedback_id: MISSING_ID,
  share_token: MISSING_ID,
  thread_id: "a thread",
  token: "a token",
  id: MISSING_ID,
  bulk_export_id: MISSING_ID,
  destination_id: MISSING_ID,
  api_key_id: MISSING_ID,
};

async function tracingRoutes(server: TestServer): Promise<Route[]> {
  const routes = await documentedRoutes(server);
  return routes.filter(({ path }) => path.startsWith("/api/"));
}

const hasBody = (method: string) => method !== "GET" && method !== "DELETE";

const isOpen = (path: string) =>
  /^\/api\/v[12]\/(info|ok|public\/.*|feedback\/tokens\/.+)$/.test(path);

describe("every route of the tracing API", () => {
  test("needs a key, except for the open ones", async ({ server, expect }) => {
    for (const { method, path } of await tracingRoutes(server)) {
      const init = hasBody(method) ? { method, body: "{}" } : { method };
      const { status } = await server.fetch(fill(path, IDS), init);
      expect([method, path, status === 401]).toEqual([method, path, !isOpen(path)]);
    }
  });

  test("can be requested by pages of any origin", async ({ server, expect }) => {
    for (const { method, path } of await tracingRoutes(server)) {
      const { status, headers } = await server.fetch(fill(path, IDS), {
        method: "OPTIONS",
        headers: {
          origin: "https://app.example",
          "access-control-request-method": method,
          "access-control-request-headers": "content-type,x-api-key,content-encoding",
        },
      });
      const origin = headers.get("access-control-allow-origin");
      const allowed = headers.get("access-control-allow-headers");
      expect([method, path, status, origin, allowed]).toEqual([
        method,
        path,
        204,
        "*",
        "content-type,x-api-key,content-encoding",
      ]);
    }
  });

  const BODIES = [
    "",
    "{",
    "{}",
    "[]",
    "[{}]",
    "null",
    "7",
    '"text"',
    '{"__proto__":null,"constructor":1}',
    '{"id":1e999,"limit":-0,"session":{},"filter":[],"select":"x","key":7,"name":{}}',
    '{"post":[{"id":{}}],"patch":[[]],"resourceSpans":[{"scopeSpans":7}]}',
    `{"name":${JSON.stringify("x".repeat(5000))},"key":${JSON.stringify("\0\uD800")}}`,
    `{"filter":${JSON.stringify("and(".repeat(2000))}}`,
    `{"extra":${'{"a":'.repeat(600)}1${"}".repeat(600)}}`,
  ];

  const TYPES = ["application/json", "multipart/form-data; boundary=b"];

  test("never answers a body with a server error", async ({ server, expect }) => {
    const { apiKey } = await ingestWorkspace(server, "bodies");
    for (const { method, path } of await tracingRoutes(server)) {
      if (!hasBody(method)) continue;
      for (const [index, body] of [...BODIES, new Uint8Array([0x7b, 0x22, 0xff])].entries()) {
        const response = await server.fetch(fill(path, IDS), {
          method,
          body,
          headers: { "x-api-key": apiKey, "content-type": TYPES[index % TYPES.length] ?? "" },
        });
        const text = await response.text();
        const seen = response.status < 500 ? "" : text;
        expect([method, path, body, seen]).toEqual([method, path, body, ""]);
      }
    }
  });

  const TEXTS = ["", "1", "-1", "1e99", "null", "true", "\0", "%", "'; --", "x".repeat(3000)];

  const PARAMETERS =
    "id run_id run session session_id session_ids project_id trace_id start_time end_time limit offset cursor name name_contains sort_by sort_by_desc metadata metadata_keys k key source user level has_score include_stats stats_start_time selects select page_size filter min_start_time max_start_time score value comment expires_at share_token exclude_serialized".split(
      " ",
    );

  test("never answers a query with a server error", async ({ server, expect }) => {
    const { apiKey } = await ingestWorkspace(server, "queries");
    for (const { method, path } of await tracingRoutes(server)) {
      if (method !== "GET") continue;
      const asked = TEXTS.map((text) => {
        return new URLSearchParams(PARAMETERS.map((name) => [name, text])).toString();
      });
      const alone = PARAMETERS.map((name) => new URLSearchParams([[name, "'"]]).toString());
      for (const query of [...asked, ...alone, "id=%ff", "id[]=1", "?", "&&=&"]) {
        const response = await server.fetch(`${fill(path, IDS)}?${query}`, {
          headers: { "x-api-key": apiKey },
        });
        const text = await response.text();
        const seen = response.status < 500 ? "" : text;
        expect([path, query, seen]).toEqual([path, query, ""]);
      }
    }
  });

  test("never answers an id with a server error", async ({ server, expect }) => {
    const { apiKey } = await ingestWorkspace(server, "ids");
    for (const { method, path } of await tracingRoutes(server)) {
      if (!path.includes("{")) continue;
      for (const id of [
        "1",
        "null",
        "%00",
        "%ff",
        "%2e%2e%2f",
        "'",
        "x".repeat(4000),
        "__proto__",
      ]) {
        const ids = Object.fromEntries(Object.keys(IDS).map((name) => [name, id]));
        const init = hasBody(method) ? { method, body: "{}" } : { method };
        const response = await server.fetch(fill(path, ids), {
          ...init,
          headers: { "x-api-key": apiKey },
        });
        const text = await response.text();
        const seen = response.status < 500 ? "" : text;
        expect([method, path, id, seen]).toEqual([method, path, id, ""]);
      }
    }
  });
});

describe("a resource of another workspace", () => {
  /** Creates a shared run with feedback in a new project, and a price. */
  async function everythingOf(workspace: IngestWorkspace) {
    const run = runData("secret", { extra: { metadata: { thread_id: "secret thread" } } });
    await workspace.multipart([runPart(run)]);
    const { client } = workspace;
    const { id: session_id } = await client.readProject({ projectName: "secret" });
    const { id: feedback_id } = await client.createFeedback(run.id, "quality", { score: 1 });
    const price = await workspace.api("POST", "/model-price-map", {
      name: "secret",
      match_pattern: "secret",
      prompt_cost: "1",
      completion_cost: "1",
    });
    const { id } = (await price.json()) as { id: string };
    const key = await workspace.api("POST", "/api-key", { description: "secret" });
    const { id: api_key_id } = (await key.json()) as { id: string };
    return {
      run_id: run.id,
      trace_id: run.trace_id,
      session_id,
      feedback_id,
      id,
      api_key_id,
      thread_id: "secret thread",
    };
  }

  /** Returns the required parameters of the route. */
  function queryFor(path: string, { session_id, trace_id }: PathIds): string {
    if (path.endsWith("/stats")) return `?session_id=${session_id}&selects=TURNS`;
    if (path.endsWith("/url")) return `?project_id=${session_id}&trace_id=${trace_id}`;
    if (path.startsWith("/api/v2/")) return `?project_id=${session_id}`;
    return path.startsWith("/api/v1/runs/") ? `?session_id=${session_id}` : "";
  }

  /** Returns a body that the route would accept from the owner. */
  function bodyFor(path: string, ids: PathIds): unknown {
    const { run_id, trace_id, session_id } = ids;
    if (path.endsWith("/model-price-map/{id}")) {
      return { name: "x", match_pattern: "x", prompt_cost: "1", completion_cost: "1" };
    }
    if (path.startsWith("/api/v2/")) return { session_id, trace_id };
    if (path.endsWith("/sessions/{session_id}")) return { description: "stolen" };
    if (path.endsWith("/feedback/{feedback_id}")) return { comment: "stolen" };
    return path.endsWith("/share") ? {} : { id: run_id, name: "stolen" };
  }

  test("is treated like a missing one", async ({ server, expect }) => {
    const mine = await ingestWorkspace(server, "mine");
    const theirs = await ingestWorkspace(server, "theirs");
    const foreign = await everythingOf(mine);
    const nothing = crypto.randomUUID();
    const missing: PathIds = {
      run_id: nothing,
      trace_id: nothing,
      session_id: crypto.randomUUID(),
      feedback_id: crypto.randomUUID(),
      id: crypto.randomUUID(),
      api_key_id: crypto.randomUUID(),
      thread_id: "secret thread",
    };
    const read = async () => {
      const run = await mine.client.readRun(foreign.run_id);
      const project = await mine.client.readProject({ projectId: foreign.session_id });
      return [run, project, await mine.client.readFeedback(foreign.feedback_id)];
    };
    const before = await read();
    // The routes of exports are tested with the exports.
    const routes = (await tracingRoutes(server)).filter(
      ({ path }) => path.includes("{") && !isOpen(path) && !path.includes("/bulk-exports/"),
    );
    expect(routes.length).toBeGreaterThan(15);
    const others: [string, number][] = [];
    for (const { method, path } of routes) {
      const ask = async (ids: PathIds) => {
        const request = { apiKey: theirs.apiKey, body: bodyFor(path, ids) };
        const query = method === "GET" ? queryFor(path, ids) : "";
        return answerWithout(server, { method, path: path + query }, ids, request);
      };
      const answer = await ask(foreign);
      expect([method, path, answer]).toEqual([method, path, await ask(missing)]);
      if (answer.status !== 404) others.push([`${method} ${path}`, answer.status]);
    }
    // Deleting a missing resource succeeds.
    expect(others).toEqual([
      ["DELETE /api/v1/runs/{run_id}/share", 200],
      ["DELETE /api/v1/model-price-map/{id}", 200],
      ["DELETE /api/v2/runs/{run_id}/share", 204],
    ]);
    expect(await read()).toEqual(before);
  });
});
