import { describe } from "vitest";
import { ended, makeRun, makeTrace, storeRuns } from "../support/sample-runs.ts";
import type { TestServer } from "../support/server.ts";
import { testWithSharedServer } from "../support/shared-server.ts";
import { tracingWorkspace, type TracingWorkspace } from "../support/tracing.ts";
import { MISSING_ID } from "../support/uuid.ts";

const HOUR_MS = 3_600_000;

type Page = {
  runs: (Record<string, unknown> & { id: string; name: string })[];
  cursors: { next: string | null };
};

/** Stores a trace with a part below its tool, and another trace of the project. */
async function storeTraces(server: TestServer) {
  const workspace = await tracingWorkspace(server, "public queries");
  const { root, model, tool } = makeTrace(HOUR_MS);
  const deep = ended(makeRun(HOUR_MS - 1250, { name: "deep", error: "no" }, tool), 10);
  const other = makeRun(1000, { name: "other" });
  const project = await storeRuns(workspace, "shared", [root, model, tool, deep, other]);
  const { share_token: whole } = await share(workspace, root.id);
  const { share_token: part } = await share(workspace, tool.id);
  return { workspace, project, root, model, tool, deep, other, whole, part };
}

async function share({ api }: TracingWorkspace, id: string): Promise<{ share_token: string }> {
  return (await api("PUT", `/runs/${id}/share`, {})).json();
}

const test = testWithSharedServer()
  .extend("traces", { scope: "file" }, ({ server }) => storeTraces(server))
  .extend("ask", { scope: "file" }, ({ server }) => (token: string, body: object) => {
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify(body) };
    return server.fetch(`/api/v1/public/${token}/runs/query`, init);
  })
  .extend("query", { scope: "file" }, ({ ask }) => async (token: string, body: object = {}) => {
    return (await (await ask(token, body)).json()) as Page;
  });

const namesOf = ({ runs }: Page): string[] => runs.map(({ name }) => name);

describe("queries about a share", () => {
  test("find the shared run and those below it", async ({ traces, query, expect }) => {
    const { whole, part } = traces;
    expect(namesOf(await query(whole))).toEqual(["deep", "search", "model", "agent"]);
    expect(namesOf(await query(part))).toEqual(["deep", "search"]);
    expect(namesOf(await query(part, { order: "asc" }))).toEqual(["search", "deep"]);
  });

  test("have the same selections as those with a key", async ({ traces, query, expect }) => {
    const { whole, part, project, root, model, tool, deep, other } = traces;
    const cases: [string, object, string[]][] = [
      [whole, { id: [model.id, deep.id, other.id] }, ["deep", "model"]],
      [part, { id: [model.id, deep.id] }, ["deep"]],
      [whole, { run_type: "llm" }, ["model"]],
      [whole, { error: true }, ["deep", "search"]],
      [whole, { is_root: true }, ["agent"]],
      [part, { parent_run: root.id }, ["search"]],
      [whole, { filter: 'eq(name, "search")' }, ["search"]],
      [part, { filter: 'eq(name, "model")' }, []],
      [whole, { tree_filter: 'eq(name, "deep")', run_type: "tool" }, ["search"]],
      [whole, { trace: root.id, session: [project], run_type: "tool" }, ["search"]],
      [whole, { trace: other.id }, []],
      [whole, { session: [MISSING_ID] }, []],
      [part, { id: [tool.id], trace: other.id }, ["search"]],
    ];
    for (const [token, body, names] of cases) {
      expect([body, namesOf(await query(token, body))]).toEqual([body, names]);
    }
  });

  test("have pages", async ({ traces, query, expect }) => {
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Page = await query(traces.part, { limit: 1, cursor });
      seen.push(...namesOf(page));
      cursor = page.cursors.next;
    } while (cursor !== null && seen.length < 5);
    expect(seen).toEqual(["deep", "search"]);
  });

  test("show payloads, and no token of another share", async ({ traces, query, expect }) => {
    const select = ["inputs", "share_token", "child_run_ids", "trace_min_max_start_time"];
    const { runs } = await query(traces.whole, { id: [traces.root.id], select });
    expect(runs).toMatchObject([{ inputs: { question: "weather?" } }]);
    expect(runs[0]).not.toHaveProperty("share_token");
    expect(runs[0]).not.toHaveProperty("trace_min_start_time");
  });

  test("do not reveal unshared runs by a filter", async ({ traces, ask, expect }) => {
    for (const field of ["trace_filter", "tree_filter"]) {
      const response = await ask(traces.part, { [field]: 'eq(name, "agent")' });
      expect([response.status, await response.json()]).toMatchObject([
        422,
        { detail: [{ loc: ["body", field], type: "not_shared" }] },
      ]);
      expect((await ask(traces.whole, { [field]: 'eq(name, "agent")' })).status).toBe(200);
    }
  });

  test("refuse invalid requests", async ({ traces, ask, expect }) => {
    expect((await ask(traces.whole, { filter: "eq(" })).status).toBe(422);
    expect((await ask(traces.whole, { cursor: "nonsense" })).status).toBe(422);
    expect((await ask(MISSING_ID, {})).status).toBe(404);
  });

  test("read one run, as far as it is shared", async ({ server, traces, expect }) => {
    const { whole, part, root, deep, other } = traces;
    const read = async (token: string, id: string) => {
      const response = await server.fetch(`/api/v1/public/${token}/run/${id}`);
      const { name, detail } = (await response.json()) as { name?: string; detail?: string };
      return [response.status, name ?? detail];
    };
    expect(await read(part, deep.id)).toEqual([200, "deep"]);
    expect(await read(whole, root.id)).toEqual([200, "agent"]);
    expect(await read(part, root.id)).toEqual([404, `Run ${root.id} not found`]);
    expect(await read(whole, other.id)).toEqual([404, `Run ${other.id} not found`]);
    expect(await read(MISSING_ID, root.id)).toEqual([404, "Nothing is shared under this token"]);
  });
});

describe("queries that name a project as session_id", () => {
  test("filter like session, and both apply", async ({ traces, expect }) => {
    const { workspace, project, root } = traces;
    const count = async (body: object) => {
      const response = await workspace.api("POST", "/runs/query", { trace: root.id, ...body });
      return ((await response.json()) as Page).runs.length;
    };
    expect(await count({ session_id: project })).toBe(4);
    expect(await count({ session_id: MISSING_ID })).toBe(0);
    expect(await count({ session_id: [project, MISSING_ID], session: [project] })).toBe(4);
    expect(await count({ session_id: MISSING_ID, session: [project] })).toBe(0);
  });
});
