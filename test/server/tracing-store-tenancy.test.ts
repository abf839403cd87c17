import { assert } from "vitest";
import { ingestWorkspace } from "../support/ingest.ts";
import type { TestServer } from "../support/server.ts";
import { testWithSharedServer } from "../support/shared-server.ts";
import { ask, projectId, query, readRun } from "../support/stored-runs.ts";
import { runData } from "../support/trace-data.ts";
import type { TracingWorkspace } from "../support/tracing.ts";
import { UUID } from "../support/uuid.ts";

const test = testWithSharedServer();

test("on every route, another workspace's ids get the same answer as missing ones", async ({
  server,
  expect,
}) => {
  const ours = await ingestWorkspace(server, "ours");
  const theirs = await ingestWorkspace(server, "theirs");
  const extra = { metadata: { thread_id: "t" } };
  const start = new Date("2026-03-01T12:00:00Z");
  const top = runData("p", { start, extra, error: "our secret" });
  const below = runData("p", { parent: top, start: new Date("2026-03-02T00:00:00Z"), extra });
  await ours.batch({ post: [top, below] });
  await ask(ours, "POST", "/feedback", { run_id: top.id, key: "k", score: 0.5 });
  const share = await ask(ours, "PUT", `/runs/${top.id}/share`, {});
  const project = await projectId(ours, "p");
  const [feedback] = await ask<{ id: string }[]>(ours, "GET", `/feedback?run=${top.id}`);
  assert(feedback !== undefined);
  const known: Ids = { run: top.id, project, feedback: feedback.id };
  const unknown: Ids = {
    run: crypto.randomUUID(),
    project: crypto.randomUUID(),
    feedback: crypto.randomUUID(),
  };
  const wanted = requests(unknown);
  for (const [index, request] of requests(known).entries()) {
    const other = wanted[index];
    assert(other !== undefined);
    const answer = await masked(server, theirs, request);
    expect([request, answer]).toEqual([request, await masked(server, theirs, other)]);
    expect([request, answer.text.includes("secret")]).toEqual([request, false]);
  }
  expect((await query(ours, { trace: top.id })).runs).toHaveLength(2);
  expect(await readRun(ours, top.id)).toMatchObject({
    name: "a run",
    feedback_stats: { k: { n: 1, avg: 0.5 } },
    share_token: share["share_token"],
  });
  expect(await readRun(ours, below.id)).toMatchObject({ parent_run_id: top.id });
  expect(await ask(ours, "GET", `/sessions/${project}`)).toMatchObject({ description: null });
});

test("the requests above cover every route with an id in its path", async ({ server, expect }) => {
  const ids = { run: "run", project: "project", feedback: "feedback" };
  const asked = new Set(
    requests(ids).map(([method, path]) => `${method} ${path.replace(/\?.*/, "")}`),
  );
  const response = await server.fetch("/openapi.json");
  const { paths } = (await response.json()) as { paths: Record<string, object> };
  const routes = Object.entries(paths)
    .filter(([path]) => path.startsWith("/api/") && path.includes("{"))
    // Share tokens grant access by themselves. Prices, keys and exports have their own tests.
    .filter(([path]) => !path.includes("/bulk-exports/"))
    .filter(([path]) => !/\{(share_token|token|id|api_key_id)\}/.test(path))
    .flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    .map((route) =>
      route
        .replace(/\{(run|trace)_id\}/, "run")
        .replace("{session_id}", "project")
        .replace("{feedback_id}", "feedback")
        .replace("{thread_id}", "t"),
    );
  expect(routes.length).toBeGreaterThan(15);
  expect(routes.filter((route) => !asked.has(route))).toEqual([]);
});

type Request = [method: string, path: string, body?: unknown];

type Ids = { run: string; project: string; feedback: string };

/** Returns a request to every route that takes an id, in the path or in the body. */
function requests({ run, project, feedback }: Ids): Request[] {
  const v1 = "/api/v1";
  const v2 = "/api/v2";
  const child = { id: crypto.randomUUID(), name: "c", run_type: "tool", start_time: 0 };
  const window = { min_start_time: "2026-01-01T00:00:00Z", max_start_time: "2026-12-31T00:00:00Z" };
  const times = "start_time=2026-03-01T12:00:00Z";
  return [
    ["GET", `${v1}/runs/${run}`],
    ["GET", `${v1}/runs/${run}?session_id=${project}`],
    ["PATCH", `${v1}/runs/${run}`, { name: "mine" }],
    ["PATCH", `${v1}/runs/${run}`, { name: "mine", session_id: project }],
    ["POST", `${v1}/runs`, { ...child, parent_run_id: run }],
    ["POST", `${v1}/runs`, { ...child, session_id: project }],
    ["GET", `${v1}/runs/${run}/share`],
    ["PUT", `${v1}/runs/${run}/share`, {}],
    ["DELETE", `${v1}/runs/${run}/share`],
    ["POST", `${v1}/runs/delete`, { session_id: project, trace_ids: [run] }],
    ["POST", `${v1}/runs/delete/traces`, { session_id: project, trace_ids: [run] }],
    ...[{ id: [run] }, { trace: run }, { parent_run: run }, { session: [project] }].flatMap(
      (body): Request[] => [
        ["POST", `${v1}/runs/query`, body],
        ["POST", `${v1}/runs/stats`, body],
      ],
    ),
    ["POST", `${v1}/runs/query`, { filter: `eq(trace_id, "${run}")` }],
    ["POST", `${v1}/runs/group`, { session_id: project, group_by: "conversation" }],
    ["POST", `${v1}/runs/group/stats`, { session_id: project, group_by: "conversation" }],
    ["GET", `${v1}/runs/threads/t?session_id=${project}`],
    ["GET", `${v1}/sessions/${project}`],
    ["GET", `${v1}/sessions/${project}?include_stats=true`],
    ["GET", `${v1}/sessions?id=${project}`],
    ["GET", `${v1}/sessions/${project}/metadata`],
    ["PATCH", `${v1}/sessions/${project}`, { description: "mine" }],
    ["DELETE", `${v1}/sessions/${project}`],
    ["DELETE", `${v1}/sessions?session_ids=${project}`],
    ["GET", `${v1}/feedback/${feedback}`],
    ["PATCH", `${v1}/feedback/${feedback}`, { score: 0 }],
    ["DELETE", `${v1}/feedback/${feedback}`],
    ["GET", `${v1}/feedback?run=${run}`],
    ["GET", `${v1}/feedback?session=${project}`],
    ["GET", `${v1}/feedback/tokens?run_id=${run}`],
    ["POST", `${v1}/feedback`, { run_id: run, key: "mine", score: 0 }],
    ["POST", `${v1}/feedback`, { session_id: project, key: "mine", score: 0 }],
    ["POST", `${v1}/feedback/tokens`, { run_id: run, feedback_key: "mine" }],
    ["POST", `${v2}/runs/query`, { project_ids: [project], ...window }],
    ["GET", `${v2}/runs/${run}?project_id=${project}&${times}`],
    ["GET", `${v2}/runs/${run}/url?project_id=${project}`],
    ["POST", `${v2}/runs/${run}/share`, { project_id: project }],
    ["DELETE", `${v2}/runs/${run}/share`],
    ["GET", `${v2}/traces/${run}/runs?project_id=${project}`],
    ["POST", `${v2}/traces/query`, { project_id: project, ...window }],
    ["POST", `${v2}/threads/query`, { project_id: project, ...window }],
    ["GET", `${v2}/threads/t/traces?project_id=${project}`],
    ["GET", `${v2}/threads/t/stats?project_id=${project}`],
  ];
}

/** Returns an answer in which all ids, times and tokens are replaced by constants. */
async function masked(
  server: TestServer,
  { apiKey }: TracingWorkspace,
  [method, path, body]: Request,
): Promise<{ status: number; text: string }> {
  const response = await server.fetch(path, {
    method,
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = (await response.text())
    .replaceAll(new RegExp(UUID.source.slice(1, -1), "g"), "<id>")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)/g, "<time>");
  return { status: response.status, text };
}
