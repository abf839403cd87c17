import { describe } from "vitest";
import { testWithSharedServer } from "../support/shared-server.ts";
import { collect, tracingWorkspace, type TracingWorkspace } from "../support/tracing.ts";
import { ISO_TIME, MISSING_ID, UUID } from "../support/uuid.ts";

const test = testWithSharedServer();

const NOT_FOUND = { detail: "Project not found" };

async function answer(request: Promise<Response>): Promise<{ status: number; body: unknown }> {
  const response = await request;
  return { status: response.status, body: await response.json() };
}

/** Returns the names in the answer to a list request. */
async function names({ api }: TracingWorkspace, query: string): Promise<string[]> {
  const response = await api("GET", `/sessions${query}`);
  const projects = (await response.json()) as { name: string }[];
  return projects.map(({ name }) => name);
}

describe("a project", () => {
  test("is created, read, changed and deleted", async ({ server, expect }) => {
    const { client, id: tenant } = await tracingWorkspace(server, "lifecycle");
    const created = await client.createProject({
      projectName: "first",
      description: "of all",
      metadata: { env: "test" },
    });
    expect(created).toEqual({
      id: expect.stringMatching(UUID),
      tenant_id: tenant,
      name: "first",
      start_time: expect.stringMatching(ISO_TIME),
      end_time: null,
      extra: { metadata: { env: "test" } },
      description: "of all",
      default_dataset_id: null,
      reference_dataset_id: null,
      trace_tier: "shortlived",
      last_run_start_time_live: null,
    });
    expect(await client.readProject({ projectName: "first" })).toEqual(created);
    expect(await client.readProject({ projectId: created.id })).toEqual(created);
    const end = "2026-08-01T12:00:00.000Z";
    const changed = await client.updateProject(created.id, { name: "renamed", endTime: end });
    expect(changed).toEqual({ ...created, name: "renamed", end_time: end });
    expect(await client.readProject({ projectId: created.id })).toEqual(changed);
    expect(await client.hasProject({ projectName: "first" })).toBe(false);
    expect(await client.hasProject({ projectName: "renamed" })).toBe(true);
    await client.deleteProject({ projectName: "renamed" });
    expect(await client.hasProject({ projectName: "renamed" })).toBe(false);
    await expect(client.readProject({ projectId: created.id })).rejects.toThrow("Not Found");
    const again = await client.createProject({ projectName: "renamed" });
    expect(again.id).not.toBe(created.id);
  });

  test("has a unique name", async ({ server, expect }) => {
    const { client, api } = await tracingWorkspace(server, "names");
    const taken = { detail: 'There is a project named "taken" already' };
    await client.createProject({ projectName: "taken" });
    const other = await client.createProject({ projectName: "other" });
    await expect(client.createProject({ projectName: "taken" })).rejects.toMatchObject({
      name: "LangSmithConflictError",
    });
    expect(await answer(api("POST", "/sessions", { name: "taken" }))).toEqual({
      status: 409,
      body: taken,
    });
    expect(await answer(api("PATCH", `/sessions/${other.id}`, { name: "taken" }))).toEqual({
      status: 409,
      body: taken,
    });
    expect((await client.updateProject(other.id, { name: "other" })).name).toBe("other");
    expect((await api("POST", "/sessions", { name: "third", id: other.id })).status).toBe(409);
  });

  test("is reused and changed by an upsert", async ({ server, expect }) => {
    const { client } = await tracingWorkspace(server, "upsert");
    const created = await client.createProject({
      projectName: "kept",
      metadata: { a: 1 },
      upsert: true,
    });
    const upsert = { projectName: "kept", upsert: true };
    expect(await client.createProject(upsert)).toEqual(created);
    const changed = await client.createProject({
      ...upsert,
      description: "new",
      metadata: { b: 2 },
    });
    expect(changed).toEqual({ ...created, description: "new", extra: { metadata: { b: 2 } } });
  });

  test("gets the id, the times and the tier of the request", async ({ server, expect }) => {
    const { api } = await tracingWorkspace(server, "given");
    const body = {
      id: "0198C0DE-0000-7000-8000-00000000000A",
      name: "given",
      start_time: "2026-08-01T12:00:00+02:00",
      end_time: "2026-08-01T12:00:00",
      extra: null,
      default_dataset_id: MISSING_ID,
      reference_dataset_id: MISSING_ID,
      trace_tier: "longlived",
      num_examples: 3,
      num_repetitions: 1,
      evaluator_keys: ["exact"],
      tag_value_ids: [],
    };
    expect((await answer(api("POST", "/sessions", body))).body).toMatchObject({
      id: body.id.toLowerCase(),
      start_time: "2026-08-01T10:00:00.000Z",
      end_time: "2026-08-01T12:00:00.000Z",
      extra: null,
      default_dataset_id: MISSING_ID,
      reference_dataset_id: MISSING_ID,
      trace_tier: "longlived",
    });
  });

  test("is not changed by null values", async ({ server, expect }) => {
    const { client, api } = await tracingWorkspace(server, "nulls");
    const created = await client.createProject({ projectName: "full", description: "text" });
    const nulls = { name: null, description: null, extra: null, end_time: null, trace_tier: null };
    expect(await answer(api("PATCH", `/sessions/${created.id}`, nulls))).toEqual({
      status: 200,
      body: created,
    });
  });

  test("has statistics only on request", async ({ server, expect }) => {
    const { client } = await tracingWorkspace(server, "stats");
    const { id } = await client.createProject({ projectName: "empty" });
    await client.createFeedback(null, "quality", { projectId: id, score: 1 });
    expect(await client.readProject({ projectId: id })).not.toHaveProperty("run_count");
    const [listed] = await collect(client.listProjects({ projectIds: [id], includeStats: true }));
    const read = await client.readProject({ projectId: id, includeStats: true });
    expect(listed).toEqual(read);
    expect(read).toMatchObject({ session_feedback_stats: { quality: { n: 1, avg: 1 } } });
  });
});

describe("projects", () => {
  test("are listed as the query selects", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "lists");
    const { api, client } = workspace;
    const make = async (name: string, day: number, more: object = {}): Promise<string> => {
      const start_time = `2026-08-0${day}T00:00:00Z`;
      const response = await api("POST", "/sessions", { name, start_time, ...more });
      return ((await response.json()) as { id: string }).id;
    };
    const alpha = await make("alpha", 3, {
      extra: { metadata: { env: "prod", tags: ["a", "b"] } },
    });
    const beta = await make("beta", 1, { reference_dataset_id: MISSING_ID });
    await make("Alphabet", 2, { extra: { metadata: { env: "dev" } } });
    const metadata = (filter: unknown) => `?metadata=${encodeURIComponent(JSON.stringify(filter))}`;
    const expected: [query: string, names: string[]][] = [
      ["", ["alpha", "Alphabet", "beta"]],
      ["?sort_by=start_time&sort_by_desc=false", ["beta", "Alphabet", "alpha"]],
      ["?sort_by=name&sort_by_desc=false", ["Alphabet", "alpha", "beta"]],
      ["?limit=1", ["alpha"]],
      ["?limit=2&offset=1", ["Alphabet", "beta"]],
      ["?offset=3", []],
      ["?name=alpha", ["alpha"]],
      ["?name=alph", []],
      ["?name_contains=ALPHA", ["alpha", "Alphabet"]],
      ["?name_contains=%25", []],
      [`?id=${beta}`, ["beta"]],
      [`?id=${beta}&id=${alpha.toUpperCase()}&id=${MISSING_ID}`, ["alpha", "beta"]],
      [`?id=${MISSING_ID}`, []],
      [`?reference_dataset=${MISSING_ID}`, ["beta"]],
      [`?reference_dataset=${alpha}`, []],
      ["?reference_free=true", ["alpha", "Alphabet"]],
      ["?reference_free=false", ["alpha", "Alphabet", "beta"]],
      [metadata({ env: "prod" }), ["alpha"]],
      [metadata({ tags: ["b"] }), ["alpha"]],
      [metadata({ env: "prod", tags: ["c"] }), []],
      [metadata({}), ["alpha", "Alphabet", "beta"]],
    ];
    for (const [query, list] of expected) {
      expect([query, await names(workspace, query)]).toEqual([query, list]);
    }
    const found = client.listProjects({ nameContains: "alph", metadata: { env: "dev" } });
    expect((await collect(found)).map(({ name }) => name)).toEqual(["Alphabet"]);
  });

  test("are sorted by their statistics", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "sorted");
    const { client } = workspace;
    const ids = new Map<string, string>();
    for (const name of ["none", "one", "two"]) {
      ids.set(name, (await client.createProject({ projectName: name })).id);
    }
    for (const [project_name, count] of [
      ["one", 1],
      ["two", 2],
    ] as const) {
      for (let index = 0; index < count; index += 1) {
        const id = crypto.randomUUID();
        const now = Date.now();
        await client.createRun({
          id,
          name: "run",
          run_type: "chain",
          inputs: {},
          project_name,
          start_time: now,
          end_time: now + count * 1000,
        });
        await client.createFeedback(id, "quality", { score: 1 / count });
      }
    }
    const expected: [query: string, names: string[]][] = [
      ["?sort_by=runs_count", ["two", "one", "none"]],
      ["?sort_by=runs_count&limit=1&offset=1", ["one"]],
      ["?sort_by=latency_p50&sort_by_desc=false&limit=2", ["one", "two"]],
      ["?sort_by=last_run_start_time", ["two", "one", "none"]],
      ["?sort_by=feedback&sort_by_feedback_key=quality", ["one", "two", "none"]],
    ];
    for (const [query, list] of expected) {
      expect([query, await names(workspace, query)]).toEqual([query, list]);
    }
    const two = await client.readProject({ projectId: ids.get("two") ?? "", includeStats: true });
    expect(two).toMatchObject({ run_count: 2, feedback_stats: { quality: { n: 2, avg: 0.5 } } });
  });

  test("are deleted together", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "together");
    const { client, api } = workspace;
    const made = await Promise.all(
      ["a", "b", "c"].map((projectName) => client.createProject({ projectName })),
    );
    const [a, b] = made.map(({ id }) => id);
    const path = `/sessions?session_ids=${a}&session_ids=${b}&session_ids=${MISSING_ID}`;
    expect(await answer(api("DELETE", path))).toEqual({ status: 200, body: {} });
    expect(await names(workspace, "")).toEqual(["c"]);
  });

  test("list the values of their runs' metadata", async ({ server, expect }) => {
    const { client, api } = await tracingWorkspace(server, "values");
    for (const env of ["prod", "dev", "prod"]) {
      await client.createRun({
        id: crypto.randomUUID(),
        name: "run",
        run_type: "chain",
        inputs: {},
        project_name: "values",
        extra: { metadata: { env } },
      });
    }
    const { id } = await client.readProject({ projectName: "values" });
    const read = async (query: string) =>
      (await answer(api("GET", `/sessions/${id}/metadata?metadata_keys=env${query}`))).body;
    expect(await read("")).toEqual({ env: ["prod", "dev"] });
    expect(await read("&k=1&root_runs_only=true")).toEqual({ env: ["prod"] });
    expect(await read("&start_time=2100-01-01")).toEqual({});
  });

  test("belong to one workspace", async ({ server, expect }) => {
    const mine = await tracingWorkspace(server, "mine");
    const theirs = await tracingWorkspace(server, "theirs");
    const { id } = await mine.client.createProject({ projectName: "private" });
    for (const missing of [id, MISSING_ID]) {
      const requests: [string, string, unknown?][] = [
        ["GET", `/sessions/${missing}`],
        ["GET", `/sessions/${missing}/metadata`],
        ["PATCH", `/sessions/${missing}`, { name: "stolen" }],
        ["DELETE", `/sessions/${missing}`],
      ];
      for (const [method, path, body] of requests) {
        const seen = await answer(theirs.api(method, path, body));
        expect([method, path, seen]).toEqual([method, path, { status: 404, body: NOT_FOUND }]);
      }
    }
    expect((await theirs.api("DELETE", `/sessions?session_ids=${id}`)).status).toBe(200);
    expect(await names(theirs, `?id=${id}`)).toEqual([]);
    expect((await theirs.api("POST", "/sessions", { name: "private", id })).status).toBe(200);
    expect((await mine.client.readProject({ projectId: id })).name).toBe("private");
  });

  test("refuse unsupported requests", async ({ server, expect }) => {
    const { api } = await tracingWorkspace(server, "refusals");
    const path = `/sessions/${MISSING_ID}`;
    const refused: [method: string, path: string, body: unknown, loc: (string | number)[]][] = [
      ["GET", "/sessions?dataset_version=1", undefined, ["query", "dataset_version"]],
      ["GET", `/sessions?tag_value_id=${MISSING_ID}`, undefined, ["query", "tag_value_id"]],
      ["GET", "/sessions?filter=eq(name,1)", undefined, ["query", "filter"]],
      ["GET", "/sessions?facets=true", undefined, ["query", "facets"]],
      ["GET", "/sessions?id=1", undefined, ["query", "id"]],
      ["GET", "/sessions?limit=101", undefined, ["query", "limit"]],
      ["GET", "/sessions?offset=-1", undefined, ["query", "offset"]],
      ["GET", "/sessions?sort_by=color", undefined, ["query", "sort_by"]],
      ["GET", "/sessions?sort_by=feedback", undefined, ["query", "sort_by_feedback_key"]],
      ["GET", "/sessions?metadata=[1]", undefined, ["query", "metadata"]],
      ["GET", "/sessions?metadata={", undefined, ["query", "metadata"]],
      ["GET", "/sessions?stats_select=color", undefined, ["query", "stats_select"]],
      ["GET", `${path}?include_stats=maybe`, undefined, ["query", "include_stats"]],
      ["GET", "/sessions/none", undefined, ["path", "session_id"]],
      ["POST", "/sessions", {}, ["body", "name"]],
      ["POST", "/sessions", { name: "" }, ["body", "name"]],
      ["POST", "/sessions", { name: "n".repeat(1025) }, ["body", "name"]],
      ["POST", "/sessions", { name: "n", tag_value_ids: [MISSING_ID] }, ["body", "tag_value_ids"]],
      ["POST", "/sessions", { name: "n", trace_tier: "forever" }, ["body", "trace_tier"]],
      ["POST", "/sessions", { name: "n", extra: { x: "y".repeat(600_000) } }, ["body", "extra"]],
      ["PATCH", path, { end_time: "soon" }, ["body", "end_time"]],
      ["DELETE", "/sessions", undefined, ["query", "session_ids"]],
      ["GET", `${path}/metadata?k=0`, undefined, ["query", "k"]],
    ];
    for (const [method, target, body, loc] of refused) {
      const { status, body: error } = await answer(api(method, target, body));
      const { detail } = error as { detail: { loc: unknown }[] };
      expect([method, target, status, detail[0]?.loc]).toEqual([method, target, 422, loc]);
    }
  });
});
