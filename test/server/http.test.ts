import { describe } from "vitest";
import { answerOf, send } from "../support/http.ts";
import { testWithServer } from "../support/server.ts";
import { documentedRoutes } from "../support/tenancy.ts";
import { UUID } from "../support/uuid.ts";

const test = testWithServer({ TRUSTED_HOSTS: "app.example" });

const EXPOSED = [
  "content-location,location,x-pagination-total,x-pagination-next,x-ignored-fields,x-request-id",
  "ratelimit,ratelimit-policy,retry-after",
  "x-ratelimit-limit,x-ratelimit-remaining,x-ratelimit-reset",
].join(",");

const ROUTES = [
  "GET /ok",
  "GET /info",
  "GET /metrics",
  "POST /mcp",
  "POST /mcp/",
  "DELETE /mcp",
  "DELETE /mcp/",
  "POST /a2a/{assistant_id}",
  "GET /a2a/{assistant_id}/.well-known/agent-card.json",
  "GET /.well-known/agent-card.json",
  "POST /assistants",
  "POST /assistants/search",
  "POST /assistants/count",
  "GET /assistants/{assistant_id}",
  "PATCH /assistants/{assistant_id}",
  "DELETE /assistants/{assistant_id}",
  "POST /assistants/{assistant_id}/versions",
  "POST /assistants/{assistant_id}/latest",
  "GET /assistants/{assistant_id}/graph",
  "GET /assistants/{assistant_id}/schemas",
  "GET /assistants/{assistant_id}/subgraphs",
  "GET /assistants/{assistant_id}/subgraphs/{namespace}",
  "POST /threads",
  "POST /threads/search",
  "GET /threads",
  "POST /threads/count",
  "POST /threads/prune",
  "GET /threads/{thread_id}",
  "POST /threads/{thread_id}/copy",
  "PATCH /threads/{thread_id}",
  "DELETE /threads/{thread_id}",
  "GET /threads/{thread_id}/stream",
  "GET /threads/{thread_id}/stream/events",
  "POST /threads/{thread_id}/stream/events",
  "POST /threads/{thread_id}/commands",
  "GET /threads/{thread_id}/state",
  "POST /threads/{thread_id}/state",
  "GET /threads/{thread_id}/state/{checkpoint_id}",
  "POST /threads/{thread_id}/state/checkpoint",
  "GET /threads/{thread_id}/history",
  "POST /threads/{thread_id}/history",
  "POST /threads/{thread_id}/runs",
  "POST /threads/{thread_id}/runs/stream",
  "POST /threads/{thread_id}/runs/wait",
  "GET /threads/{thread_id}/runs",
  "GET /threads/{thread_id}/runs/{run_id}",
  "DELETE /threads/{thread_id}/runs/{run_id}",
  "POST /threads/{thread_id}/runs/{run_id}/cancel",
  "GET /threads/{thread_id}/runs/{run_id}/join",
  "GET /threads/{thread_id}/runs/{run_id}/stream",
  "POST /runs",
  "POST /runs/batch",
  "POST /runs/cancel",
  "POST /runs/stream",
  "POST /runs/wait",
  "POST /runs/crons",
  "POST /threads/{thread_id}/runs/crons",
  "POST /runs/crons/search",
  "POST /runs/crons/count",
  "GET /runs/crons/{cron_id}",
  "PATCH /runs/crons/{cron_id}",
  "DELETE /runs/crons/{cron_id}",
  "GET /runs/{run_id}/join",
  "GET /runs/{run_id}/stream",
  "PUT /store/items",
  "GET /store/items",
  "POST /ui/{name}",
  "GET /ui/{name}/{file}",
  "GET /v1/integrations/github/install",
  "GET /v1/integrations/github/{integration_id}/repos",
  "DELETE /store/items",
  "POST /store/items/search",
  "POST /store/namespaces",
  "GET /api/v1/info",
  "GET /api/v1/ok",
  "POST /api/v1/runs",
  "PATCH /api/v1/runs/{run_id}",
  "POST /api/v1/runs/batch",
  "POST /api/v1/runs/multipart",
  "POST /api/v1/otel/v1/traces",
  "POST /api/v1/runs/query",
  "POST /api/v1/runs/query/validate",
  "POST /api/v1/runs/stats",
  "POST /api/v1/runs/group",
  "POST /api/v1/runs/group/stats",
  "GET /api/v1/runs/threads/{thread_id}",
  "GET /api/v1/runs/{run_id}",
  "POST /api/v1/runs/delete",
  "POST /api/v1/runs/delete/traces",
  "GET /api/v1/runs/{run_id}/share",
  "PUT /api/v1/runs/{run_id}/share",
  "DELETE /api/v1/runs/{run_id}/share",
  "GET /api/v1/public/{share_token}/run",
  "GET /api/v1/public/{share_token}/runs",
  "POST /api/v1/public/{share_token}/runs/query",
  "GET /api/v1/public/{share_token}/run/{run_id}",
  "POST /api/v1/sessions",
  "GET /api/v1/sessions",
  "DELETE /api/v1/sessions",
  "GET /api/v1/sessions/{session_id}",
  "PATCH /api/v1/sessions/{session_id}",
  "DELETE /api/v1/sessions/{session_id}",
  "GET /api/v1/sessions/{session_id}/metadata",
  "GET /api/v1/bulk-exports",
  "POST /api/v1/bulk-exports",
  "GET /api/v1/bulk-exports/runs",
  "GET /api/v1/bulk-exports/{bulk_export_id}",
  "PATCH /api/v1/bulk-exports/{bulk_export_id}",
  "GET /api/v1/bulk-exports/{bulk_export_id}/runs",
  "GET /api/v1/bulk-exports/{bulk_export_id}/runs/{run_id}",
  "GET /api/v1/bulk-exports/destinations",
  "POST /api/v1/bulk-exports/destinations",
  "GET /api/v1/bulk-exports/destinations/{destination_id}",
  "PATCH /api/v1/bulk-exports/destinations/{destination_id}",
  "DELETE /api/v1/bulk-exports/destinations/{destination_id}",
  "POST /api/v1/feedback",
  "POST /api/v1/feedback/eager",
  "GET /api/v1/feedback",
  "GET /api/v1/feedback/{feedback_id}",
  "PATCH /api/v1/feedback/{feedback_id}",
  "DELETE /api/v1/feedback/{feedback_id}",
  "POST /api/v1/feedback/tokens",
  "GET /api/v1/feedback/tokens",
  "GET /api/v1/feedback/tokens/{token}",
  "POST /api/v1/feedback/tokens/{token}",
  "GET /api/v1/feedback-configs",
  "POST /api/v1/feedback-configs",
  "PATCH /api/v1/feedback-configs",
  "DELETE /api/v1/feedback-configs",
  "GET /api/v1/model-price-map",
  "POST /api/v1/model-price-map",
  "PUT /api/v1/model-price-map/{id}",
  "DELETE /api/v1/model-price-map/{id}",
  "GET /api/v1/api-key",
  "POST /api/v1/api-key",
  "DELETE /api/v1/api-key/{api_key_id}",
  "GET /api/v1/workspaces",
  "GET /api/v1/workspaces/current",
  "POST /api/v2/runs/query",
  "GET /api/v2/runs/{run_id}",
  "GET /api/v2/runs/{run_id}/url",
  "POST /api/v2/runs/{run_id}/share",
  "DELETE /api/v2/runs/{run_id}/share",
  "POST /api/v2/traces/query",
  "GET /api/v2/traces/{trace_id}/runs",
  "POST /api/v2/threads/query",
  "GET /api/v2/threads/{thread_id}/stats",
  "GET /api/v2/threads/{thread_id}/traces",
  "GET /api/v2/public/{share_token}/run/{run_id}",
  "POST /api/v2/public/{share_token}/runs/query",
  "GET /v2/auth/callback/{provider_id}",
  "POST /v2/auth/callback/{provider_id}",
  "GET /v2/auth/setup/{provider_id}",
  "GET /v2/auth/done",
  "GET /v2/auth/providers",
  "POST /v2/auth/providers",
  "POST /v2/auth/providers/mcp-discover",
  "GET /v2/auth/providers/{provider_id}",
  "PATCH /v2/auth/providers/{provider_id}",
  "DELETE /v2/auth/providers/{provider_id}",
  "POST /v2/auth/authenticate",
  "GET /v2/auth/wait/{auth_id}",
  "GET /v2/auth/tokens",
  "DELETE /v2/auth/tokens",
  "GET /v2/auth/tokens/exists",
  "DELETE /v2/auth/tokens/{token_id}",
  "PATCH /v2/auth/tokens/{token_id}/metadata",
  "GET /v2/auth/agents/{agent_id}/connections",
  "POST /v2/auth/agents/{agent_id}/connections",
  "DELETE /v2/auth/agents/{agent_id}/connections/{connection_id}",
  "POST /v2/deployments",
  "GET /v2/deployments",
  "DELETE /v2/deployments",
  "GET /v2/deployments/templates",
  "POST /v2/deployments/upload-url",
  "GET /v2/deployments/{deployment_id}",
  "PATCH /v2/deployments/{deployment_id}",
  "DELETE /v2/deployments/{deployment_id}",
  "POST /v2/deployments/{deployment_id}/upload-url",
  "POST /v2/deployments/{deployment_id}/github-webhook",
  "GET /v2/deployments/{deployment_id}/revisions",
  "POST /v2/deployments/{deployment_id}/revisions",
  "GET /v2/deployments/{deployment_id}/revisions/{revision_id}",
  "POST /v2/deployments/{deployment_id}/revisions/{revision_id}/redeploy",
  "POST /v2/deployments/{deployment_id}/revisions/{revision_id}/interrupt",
  "POST /v2/deployments/{deployment_id}/revisions/{revision_id}/build_logs",
  "POST /v2/deployments/{deployment_id}/revisions/{revision_id}/deploy_logs",
  "POST /v2/deployments/{deployment_id}/deploy_logs",
  "GET /v2/deployments/{deployment_id}/usage",
  "GET /v2/deployments/{deployment_id}/webhook-key",
  "POST /v2/deployments/{deployment_id}/webhook-key/rotate",
  "POST /v1/projects/{deployment_id}/revisions/{revision_id}/build_logs",
  "POST /v1/projects/{deployment_id}/revisions/{revision_id}/deploy_logs",
  "POST /v1/projects/{deployment_id}/deploy_logs",
];

describe("system routes", () => {
  test("report that the server works", async ({ server, expect }) => {
    for (const path of ["/ok", "/ok?check_db=1", "/ok?check_db=false"]) {
      expect(await answerOf(send(server, "GET", path))).toEqual({
        status: 200,
        body: { ok: true },
      });
    }
    expect((await send(server, "GET", "/ok?check_db=maybe")).status).toBe(422);
  });

  test("describe the server", async ({ server, expect }) => {
    const { body } = await send(server, "GET", "/info");
    const version = expect.stringMatching(/^\d+\.\d+\.\d+/);
    expect(body).toEqual({
      version,
      langgraph_js_version: version,
      context: "js",
      flags: {
        assistants: true,
        crons: true,
        mcp: true,
        a2a: true,
        langsmith: false,
        langsmith_tracing_replicas: false,
      },
    });
  });

  test("answer HEAD like GET, without a body", async ({ server, expect }) => {
    const response = await server.fetch("/ok", { method: "HEAD" });
    expect([response.status, await response.text()]).toEqual([200, ""]);
  });
});

describe("the API's description", () => {
  test("lists every route", async ({ server, expect }) => {
    const routes = await documentedRoutes(server);
    const names = routes.map(({ method, path }) => `${method} ${path}`);
    expect(names.toSorted()).toEqual(ROUTES.toSorted());
  });

  test("has no reference to a missing schema", async ({ server, expect }) => {
    const text = await (await server.fetch("/openapi.json")).text();
    const { openapi, components } = JSON.parse(text) as {
      openapi: string;
      components: { schemas: Record<string, unknown> };
    };
    expect(openapi).toBe("3.1.0");
    const references = text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g);
    const missing = [...references]
      .map(([, name]) => name ?? "")
      .filter((name) => {
        return !(name in components.schemas);
      });
    expect(missing).toEqual([]);
  });

  test("has a page for people", async ({ server, expect }) => {
    const response = await server.fetch("/docs");
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toMatch(/^text\/html/);
    expect(await response.text()).toMatch(/<html/i);
  });
});

describe("browsers", () => {
  test("can send requests from any origin", async ({ server, expect }) => {
    const response = await server.fetch("/threads", {
      method: "OPTIONS",
      headers: {
        origin: "https://app.example",
        "access-control-request-method": "PATCH",
        "access-control-request-headers": "content-type,x-api-key,last-event-id",
      },
    });
    expect(response.status).toBe(204);
    const { headers } = response;
    expect(headers.get("access-control-allow-origin")).toBe("*");
    expect(headers.get("access-control-allow-credentials")).toBeNull();
    const methods = headers.get("access-control-allow-methods")?.split(",");
    expect(methods).toEqual(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
    expect(headers.get("access-control-allow-headers")).toBe(
      "content-type,x-api-key,last-event-id",
    );
    expect(headers.get("access-control-max-age")).toBe("86400");
  });

  test.for([
    ["GET", "/ok", 200],
    ["GET", "/nope", 404],
    ["PUT", "/threads", 405],
    ["POST", "/assistants", 422],
    ["GET", "/assistants/nope", 404],
  ] as const)(
    "can read the answer of %s %s",
    async ([method, path, status], { server, expect }) => {
      const response = await server.fetch(path, {
        method,
        headers: { origin: "https://app.example" },
      });
      await response.text();
      expect(response.status).toBe(status);
      expect(response.headers.get("access-control-allow-origin")).toBe("*");
      expect(response.headers.get("access-control-expose-headers")).toBe(EXPOSED);
    },
  );

  test("can read a stream", async ({ server, expect }) => {
    const response = await server.fetch("/runs/stream", {
      method: "POST",
      headers: { origin: "https://app.example", "content-type": "application/json" },
      body: JSON.stringify({ assistant_id: "branching", input: {} }),
    });
    await response.text();
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(response.headers.get("cache-control")).toBe("no-cache, no-transform");
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(response.headers.get("access-control-expose-headers")).toBe(EXPOSED);
    expect(response.headers.get("x-request-id")).toMatch(UUID);
  });
});

describe("a request's id", () => {
  test("is set by the server, unless the client sends a valid one", async ({ server, expect }) => {
    const idFor = async (headers: Record<string, string>, path = "/ok") =>
      (await send(server, "GET", path, undefined, headers)).headers.get("x-request-id");
    expect(await idFor({})).toMatch(UUID);
    expect(await idFor({})).not.toBe(await idFor({}));
    expect(await idFor({ "x-request-id": "my-id.1:2" })).toBe("my-id.1:2");
    expect(await idFor({ "x-request-id": "my-id" }, "/nope")).toBe("my-id");
    expect(await idFor({ "x-request-id": "x".repeat(129) })).toMatch(UUID);
    expect(await idFor({ "x-request-id": "two words" })).toMatch(UUID);
  });
});
