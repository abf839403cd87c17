import { describe } from "vitest";
import type { TestServer } from "../support/server.ts";
import { testWithSharedServer } from "../support/shared-server.ts";
import { collect, tracingWorkspace, type TracingWorkspace } from "../support/tracing.ts";
import { ISO_TIME, MISSING_ID, UUID } from "../support/uuid.ts";

const test = testWithSharedServer();

const NOT_FOUND = { status: 404, body: { detail: "Feedback not found" } };

const CONTINUOUS = { type: "continuous", min: 0, max: 1 } as const;

type Detail = { detail: { loc: unknown; msg: string }[] };

async function answer(request: Promise<Response>): Promise<{ status: number; body: unknown }> {
  const response = await request;
  const text = await response.text();
  return { status: response.status, body: text === "" ? null : JSON.parse(text) };
}

/** Creates a root run in the project "runs", and returns the project's id. */
async function makeRun({ client }: TracingWorkspace, id: string = crypto.randomUUID()) {
  const run = { id, name: "run", run_type: "chain", inputs: {}, project_name: "runs" };
  await client.createRun({ ...run, start_time: Date.now() });
  const { id: sessionId } = await client.readProject({ projectName: "runs" });
  return { id, sessionId };
}

async function statsOf({ client }: TracingWorkspace, runId: string): Promise<unknown> {
  return (await client.readRun(runId)).feedback_stats;
}

async function keysOf({ api }: TracingWorkspace, query: string): Promise<string[]> {
  const response = await api("GET", `/feedback${query}`);
  const list = (await response.json()) as { key: string }[];
  return list.map(({ key }) => key);
}

describe("feedback on a run", () => {
  test("is created, read, changed and deleted", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "lifecycle");
    const { client } = workspace;
    const { id: runId, sessionId } = await makeRun(workspace);
    const created = await client.createFeedback(runId, "quality", {
      score: 0.123456,
      value: "good",
      comment: "well done",
      correction: { answer: 42 },
      sourceInfo: { judge: "me" },
      sourceRunId: MISSING_ID,
      feedbackSourceType: "model",
    });
    const read = await client.readFeedback(created.id);
    expect(read).toEqual({
      id: created.id,
      created_at: expect.stringMatching(ISO_TIME),
      modified_at: expect.stringMatching(ISO_TIME),
      key: "quality",
      score: 0.1235,
      value: "good",
      comment: "well done",
      correction: { answer: 42 },
      feedback_group_id: null,
      comparative_experiment_id: null,
      run_id: runId,
      session_id: sessionId,
      trace_id: runId,
      start_time: null,
      is_root: true,
      feedback_source: {
        type: "model",
        metadata: { judge: "me", __run: { run_id: MISSING_ID } },
        user_id: null,
        ls_user_id: null,
        user_name: null,
      },
      extra: null,
      feedback_thread_id: null,
    });
    const stat = { n: 1, avg: 0.1235, min: 0.1235, max: 0.1235, stdev: null, values: { good: 1 } };
    expect(await statsOf(workspace, runId)).toMatchObject({ quality: stat });
    await client.updateFeedback(created.id, { score: 1, value: "better", comment: "even so" });
    const changed = await client.readFeedback(created.id);
    expect(changed).toEqual({
      ...read,
      modified_at: changed.modified_at,
      score: 1,
      value: "better",
      comment: "even so",
    });
    expect(await statsOf(workspace, runId)).toMatchObject({
      quality: { n: 1, avg: 1, values: { better: 1 }, comments: ["even so"], sources: ["model"] },
    });
    await client.deleteFeedback(created.id);
    await expect(client.readFeedback(created.id)).rejects.toThrow("Feedback not found");
    expect((await statsOf(workspace, runId)) ?? {}).toEqual({});
  });

  test("replaces the feedback with its id", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "again");
    const { client, api } = workspace;
    const { id: runId } = await makeRun(workspace);
    const feedbackId = crypto.randomUUID();
    await client.createFeedback(runId, "quality", { score: 1, comment: "first", feedbackId });
    const first = await client.readFeedback(feedbackId);
    await client.createFeedback(runId, "quality", { score: false, feedbackId });
    const { created_at } = first;
    const second = await client.readFeedback(feedbackId);
    expect(second).toMatchObject({ score: 0, comment: null, created_at });
    expect(await statsOf(workspace, runId)).toMatchObject({ quality: { n: 1, avg: 0 } });
    const other = { id: feedbackId, run_id: crypto.randomUUID(), key: "quality" };
    expect(await answer(api("POST", "/feedback", other))).toEqual({
      status: 409,
      body: { detail: `There is feedback with the id ${feedbackId} about another run` },
    });
    expect(await client.readFeedback(feedbackId)).toEqual(second);
  });

  test("can be sent before the run", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "early");
    const { client } = workspace;
    const runId = crypto.randomUUID();
    const { id } = await client.createFeedback(runId, "quality", { score: 1 });
    expect(await client.readFeedback(id)).toMatchObject({ session_id: null, is_root: false });
    const { sessionId } = await makeRun(workspace, runId);
    await expect
      .poll(async () => client.readFeedback(id))
      .toMatchObject({ session_id: sessionId, trace_id: runId, is_root: true });
    expect(await statsOf(workspace, runId)).toMatchObject({ quality: { n: 1, avg: 1 } });
  });

  test("can be one of several with the same key", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "several");
    const { client } = workspace;
    const { id: runId } = await makeRun(workspace);
    for (const score of [1, 0, 1]) await client.createFeedback(runId, "quality", { score });
    await client.createFeedback(runId, "mood", { value: "sunny" });
    expect(await statsOf(workspace, runId)).toMatchObject({
      quality: { n: 3, avg: 2 / 3, min: 0, max: 1, values: {} },
      mood: { n: 1, avg: null, values: { sunny: 1 } },
    });
  });

  test("belongs to the root if it names only a trace", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "trace");
    const { id: runId } = await makeRun(workspace);
    const created = await answer(
      workspace.api("POST", "/feedback/eager", { trace_id: runId, key: "quality", score: 1 }),
    );
    expect(created).toMatchObject({ status: 200, body: { run_id: runId, trace_id: runId } });
  });

  test("clears fields that a change sets to null", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "clear");
    const { client, api } = workspace;
    const { id: runId } = await makeRun(workspace);
    const { id } = await client.createFeedback(runId, "quality", { score: 1, comment: "c" });
    const changed = await answer(api("PATCH", `/feedback/${id}`, { comment: null, score: true }));
    expect(changed).toMatchObject({ status: 200, body: { comment: null, score: 1 } });
  });
});

describe("feedback on a project", () => {
  test("needs a project that exists", async ({ server, expect }) => {
    const { client, api } = await tracingWorkspace(server, "project level");
    const { id: projectId } = await client.createProject({ projectName: "judged" });
    const { id } = await client.createFeedback(null, "overall", { projectId, score: 3 });
    expect(await client.readFeedback(id)).toMatchObject({ run_id: null, session_id: projectId });
    const body = { run_id: null, session_id: MISSING_ID, key: "overall" };
    expect(await answer(api("POST", "/feedback", body))).toEqual({
      status: 404,
      body: { detail: "Project not found" },
    });
  });
});

describe("a list of feedback", () => {
  test("has the selected ones, newest first", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "lists");
    const { client, api } = workspace;
    const { id: runId, sessionId } = await makeRun(workspace);
    const user = crypto.randomUUID();
    const experiment = crypto.randomUUID();
    const make = (key: string, day: number, more: object) =>
      api("POST", "/feedback", { key, created_at: `2026-08-0${day}T00:00:00Z`, ...more });
    await make("a", 1, { run_id: runId, score: 1, comparative_experiment_id: experiment });
    await make("b", 2, { run_id: MISSING_ID, comment: "text" });
    await make("c", 3, { session_id: sessionId, feedback_source: { type: "app", user_id: user } });
    const expected: [query: string, keys: string[]][] = [
      ["", ["c", "b", "a"]],
      ["?limit=1", ["c"]],
      ["?limit=2&offset=1", ["b", "a"]],
      [`?run=${runId}`, ["a"]],
      [`?run=${runId}&run=${MISSING_ID}`, ["b", "a"]],
      [`?session=${sessionId}`, ["c", "a"]],
      ["?key=a&key=b", ["b", "a"]],
      ["?source=app", ["c"]],
      ["?source=app&source=api", ["c", "b", "a"]],
      [`?user=${user}`, ["c"]],
      [`?user=${MISSING_ID}`, []],
      ["?has_comment=true", ["b"]],
      ["?has_comment=false", ["c", "a"]],
      ["?has_score=true", ["a"]],
      ["?level=run", ["b", "a"]],
      ["?level=session", ["c"]],
      ["?min_created_at=2026-08-02T00:00:00Z", ["c", "b"]],
      ["?max_created_at=2026-08-02T00:00:00Z&include_user_names=true", ["b", "a"]],
      [`?comparative_experiment_id=${experiment}`, ["a"]],
    ];
    for (const [query, keys] of expected) {
      expect([query, await keysOf(workspace, query)]).toEqual([query, keys]);
    }
    const found = client.listFeedback({
      runIds: [runId, MISSING_ID],
      feedbackKeys: ["a", "c"],
      feedbackSourceTypes: ["api"],
    });
    expect((await collect(found)).map(({ key }) => key)).toEqual(["a"]);
  });
});

test("a list of large feedback is complete and in order", async ({ server, expect }) => {
  const { api } = await tracingWorkspace(server, "large");
  const comment = "語".repeat(400_000);
  for (let day = 1; day <= 6; day += 1) {
    const created_at = `2026-08-0${day}T00:00:00Z`;
    await api("POST", "/feedback", { key: `${day}`, run_id: MISSING_ID, comment, created_at });
  }
  const response = await api("GET", "/feedback?limit=5");
  expect(response.status).toBe(200);
  const list = (await response.json()) as { key: string; comment: string }[];
  expect(list.map(({ key }) => key)).toEqual(["6", "5", "4", "3", "2"]);
  expect(list.every((each) => each.comment === comment)).toBe(true);
});

describe("a feedback link", () => {
  async function makeLink(server: TestServer, workspace: TracingWorkspace, body: object = {}) {
    const { id: runId } = await makeRun(workspace);
    const token = { run_id: runId, feedback_key: "thumbs", ...body };
    const made = await answer(workspace.api("POST", "/feedback/tokens", token));
    const { id, url } = made.body as { id: string; url: string };
    const give = (method: string, query = "", given?: unknown) =>
      answer(
        server.fetch(`${new URL(url).pathname}${query}`, {
          method,
          ...(given === undefined ? {} : { body: JSON.stringify(given) }),
        }),
      );
    return { id, runId, give };
  }

  test("accepts feedback without a key", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "links");
    const { runId, give } = await makeLink(server, workspace);
    const given = { score: 1, comment: "nice", metadata: { page: 3 }, value: null };
    expect(await give("POST", "", given)).toEqual({ status: 200, body: {} });
    const [first, ...others] = await collect(workspace.client.listFeedback({ runIds: [runId] }));
    expect(others).toEqual([]);
    expect(first).toMatchObject({
      key: "thumbs",
      score: 1,
      comment: "nice",
      feedback_source: { type: "api", metadata: { page: 3 } },
    });
    expect(await statsOf(workspace, runId)).toMatchObject({ thumbs: { n: 1, avg: 1 } });
    const again = "?score=false&comment=not%20really&value=5&correction=less";
    expect(await give("GET", again)).toEqual({ status: 200, body: {} });
    const list = await collect(workspace.client.listFeedback({ runIds: [runId] }));
    expect(list).toMatchObject([
      { id: first?.id, score: 0, comment: "not really", value: "5", correction: "less" },
    ]);
  });

  test("is created and listed by the official client", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "client links");
    const { client } = workspace;
    const { id: runId } = await makeRun(workspace);
    const before = Date.now();
    const byDefault = await client.createPresignedFeedbackToken(runId, "a");
    const expiration = { days: 1, hours: 1 };
    const longer = await client.createPresignedFeedbackToken(runId, "b", { expiration });
    const at = "2100-01-01T00:00:00.000Z";
    const fixed = await client.createPresignedFeedbackToken(runId, "c", { expiration: at });
    expect(fixed).toEqual({
      id: expect.stringMatching(UUID),
      url: `${server.url}/api/v1/feedback/tokens/${fixed.id}`,
      expires_at: at,
      feedback_key: "c",
    });
    const life = (token: { expires_at: string }) =>
      Math.floor((Date.parse(token.expires_at) - before) / 3_600_000);
    expect([life(byDefault), life(longer)]).toEqual([3, 25]);
    const listed = await collect(client.listPresignedFeedbackTokens(runId));
    expect(new Set(listed.map(({ id }) => id))).toEqual(
      new Set([byDefault.id, longer.id, fixed.id]),
    );
    const page = await answer(workspace.api("GET", `/feedback/tokens?run_id=${runId}&offset=2`));
    expect(page.body).toHaveLength(1);
  });

  test("can be created in lists", async ({ server, expect }) => {
    const { api } = await tracingWorkspace(server, "link lists");
    const body = ["up", "down"].map((feedback_key) => ({ run_id: MISSING_ID, feedback_key }));
    const made = await answer(api("POST", "/feedback/tokens", body));
    expect(made.body).toMatchObject([{ feedback_key: "up" }, { feedback_key: "down" }]);
  });

  test("expires", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "ended links");
    const ended = { expires_at: "2026-01-01T00:00:00Z" };
    const { runId, give } = await makeLink(server, workspace, ended);
    expect(await give("POST", "", { score: 1 })).toEqual({
      status: 403,
      body: { detail: "This feedback token expired at 2026-01-01T00:00:00.000Z" },
    });
    expect(await collect(workspace.client.listFeedback({ runIds: [runId] }))).toEqual([]);
    const missing = server.fetch(`/api/v1/feedback/tokens/${MISSING_ID}`);
    expect(await answer(missing)).toEqual({
      status: 404,
      body: { detail: "Feedback token not found" },
    });
  });

  test("accepts what its config permits", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "limited links");
    const { give } = await makeLink(server, workspace, { feedback_config: CONTINUOUS });
    for (const [method, query, given, source] of [
      ["POST", "", { score: 2 }, "body"],
      ["GET", "?score=2", undefined, "query"],
    ] as const) {
      const refused = await give(method, query, given);
      expect(refused).toMatchObject({
        status: 422,
        body: { detail: [{ loc: [source, "score"], msg: "Score should be at most 1" }] },
      });
    }
    expect((await give("GET", "?score=1")).status).toBe(200);
  });
});

describe("the config of a feedback key", () => {
  test("is created, listed, changed and deleted", async ({ server, expect }) => {
    const { client, id: tenant } = await tracingWorkspace(server, "configs");
    const created = await client.createFeedbackConfig({
      feedbackKey: "rating",
      feedbackConfig: CONTINUOUS,
    });
    expect(created).toEqual({
      feedback_key: "rating",
      feedback_config: { ...CONTINUOUS, categories: null },
      tenant_id: tenant,
      modified_at: expect.stringMatching(ISO_TIME),
      is_lower_score_better: null,
    });
    const same = { feedbackKey: "rating", feedbackConfig: { ...CONTINUOUS, categories: null } };
    expect(await client.createFeedbackConfig(same)).toEqual(created);
    const other = { feedbackKey: "rating", feedbackConfig: { type: "freeform" as const } };
    await expect(client.createFeedbackConfig(other)).rejects.toThrow(
      "already has a different config",
    );
    const changed = await client.updateFeedbackConfig("rating", { isLowerScoreBetter: true });
    expect(changed).toMatchObject({
      ...created,
      modified_at: changed.modified_at,
      is_lower_score_better: true,
    });
    // The client sends that higher scores are better unless its caller sets it.
    expect(await client.createFeedbackConfig(same)).toEqual(changed);
    expect(await client.createFeedbackConfig({ ...same, isLowerScoreBetter: true })).toEqual(
      changed,
    );
    await client.updateFeedbackConfig("rating", { isLowerScoreBetter: false });
    const lower = client.createFeedbackConfig({ ...same, isLowerScoreBetter: true });
    await expect(lower).rejects.toThrow("already has a different config");
    await client.createFeedbackConfig({ ...other, feedbackKey: "notes" });
    const listed = async (options: Parameters<typeof client.listFeedbackConfigs>[0]) =>
      (await collect(client.listFeedbackConfigs(options))).map((config) => config.feedback_key);
    expect(await listed({})).toEqual(["notes", "rating"]);
    expect(await listed({ limit: 1 })).toEqual(["notes"]);
    expect(await listed({ nameContains: "RAT" })).toEqual(["rating"]);
    expect(await listed({ feedbackKeys: ["notes", "none"] })).toEqual(["notes"]);
    await client.deleteFeedbackConfig("rating");
    expect(await listed({})).toEqual(["notes"]);
    await expect(client.updateFeedbackConfig("rating")).rejects.toThrow("has no config");
    await expect(client.deleteFeedbackConfig("rating")).rejects.toThrow("has no config");
  });

  test("determines which scores are accepted", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "checked");
    const { client, api } = workspace;
    const categories = [
      { value: 0, label: "bad" },
      { value: 1, label: "good" },
    ];
    await client.createFeedbackConfig({
      feedbackKey: "verdict",
      feedbackConfig: { type: "categorical", categories },
    });
    const { id: runId } = await makeRun(workspace);
    const { id } = await client.createFeedback(runId, "verdict", { score: 1, value: "good" });
    const give = (given: object) =>
      answer(api("POST", "/feedback", { run_id: runId, key: "verdict", ...given }));
    expect((await give({ value: "bad" })).status).toBe(200);
    expect((await give({ comment: "no idea" })).status).toBe(200);
    expect(await give({ score: 2 })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "score"], msg: "Score should be one of 0, 1" }] },
    });
    expect(await give({ value: "ugly" })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "value"], msg: 'Value should be one of "bad", "good"' }] },
    });
    expect((await api("PATCH", `/feedback/${id}`, { score: 2 })).status).toBe(422);
    expect((await client.readFeedback(id)).score).toBe(1);
  });

  test("is created with the first feedback that contains one", async ({ server, expect }) => {
    const workspace = await tracingWorkspace(server, "first config");
    const { client } = workspace;
    const { id: runId } = await makeRun(workspace);
    const scored = (score: number, max: number) =>
      client.createFeedback(runId, "stars", { score, feedbackConfig: { ...CONTINUOUS, max } });
    await expect(scored(7, 5)).rejects.toThrow("Score should be at most 5");
    await scored(5, 5);
    await expect(scored(7, 10)).rejects.toThrow("Score should be at most 5");
    const [config] = await collect(client.listFeedbackConfigs());
    expect(config).toMatchObject({ feedback_key: "stars", feedback_config: { min: 0, max: 5 } });
  });
});

describe("feedback", () => {
  test("belongs to one workspace", async ({ server, expect }) => {
    const mine = await tracingWorkspace(server, "mine");
    const theirs = await tracingWorkspace(server, "theirs");
    const { id: runId, sessionId } = await makeRun(mine);
    const { id } = await mine.client.createFeedback(runId, "quality", { score: 1 });
    await mine.client.createPresignedFeedbackToken(runId, "quality");
    for (const missing of [id, MISSING_ID]) {
      const path = `/feedback/${missing}`;
      expect(await answer(theirs.api("GET", path))).toEqual(NOT_FOUND);
      expect(await answer(theirs.api("PATCH", path, { score: 0 }))).toEqual(NOT_FOUND);
      expect(await answer(theirs.api("DELETE", path))).toEqual(NOT_FOUND);
    }
    expect(await keysOf(theirs, `?run=${runId}`)).toEqual([]);
    const links = theirs.api("GET", `/feedback/tokens?run_id=${runId}`);
    expect(await answer(links)).toEqual({ status: 200, body: [] });
    const body = { id, run_id: runId, key: "quality", score: 0 };
    const theirOwn = await answer(theirs.api("POST", "/feedback", body));
    expect(theirOwn).toMatchObject({ status: 200, body: { session_id: null } });
    const onProject = { session_id: sessionId, key: "quality" };
    expect((await theirs.api("POST", "/feedback", onProject)).status).toBe(404);
    expect(await mine.client.readFeedback(id)).toMatchObject({ score: 1 });
    expect(await statsOf(mine, runId)).toMatchObject({ quality: { n: 1, avg: 1 } });
  });

  test("no longer has formulas", async ({ server, expect }) => {
    const { api } = await tracingWorkspace(server, "formulas");
    const gone = {
      status: 410,
      body: { detail: "Composite feedback formulas are no longer supported" },
    };
    expect(await answer(api("GET", "/feedback/formulas"))).toEqual(gone);
    expect(await answer(api("POST", "/feedback/formulas", {}))).toEqual(gone);
    expect(await answer(api("PUT", `/feedback/formulas/${MISSING_ID}`, {}))).toEqual(gone);
  });

  test("is refused if it is invalid", async ({ server, expect }) => {
    const { api } = await tracingWorkspace(server, "refusals");
    const feedback = { run_id: MISSING_ID, key: "k" };
    const token = { run_id: MISSING_ID, feedback_key: "k" };
    const refused: [method: string, path: string, body: unknown, loc: (string | number)[]][] = [
      ["POST", "/feedback", { run_id: MISSING_ID }, ["body", "key"]],
      ["POST", "/feedback", { key: "k" }, ["body", "run_id"]],
      ["POST", "/feedback", { ...feedback, value: ["list"] }, ["body", "value"]],
      ["POST", "/feedback", { ...feedback, score: "high" }, ["body", "score"]],
      ["POST", "/feedback", { ...feedback, comment: "c".repeat(600_000) }, ["body"]],
      ["GET", "/feedback?run=x", undefined, ["query", "run"]],
      ["GET", "/feedback?source=me", undefined, ["query", "source"]],
      ["GET", "/feedback?level=trace", undefined, ["query", "level"]],
      ["GET", "/feedback?limit=0", undefined, ["query", "limit"]],
      ["GET", "/feedback?max_created_at=now", undefined, ["query", "max_created_at"]],
      ["GET", "/feedback/none", undefined, ["path", "feedback_id"]],
      ["GET", "/feedback/tokens", undefined, ["query", "run_id"]],
      [
        "POST",
        "/feedback/tokens",
        { ...token, expires_in: { days: -1 } },
        ["body", "expires_in", "days"],
      ],
      ["POST", "/feedback-configs", { feedback_key: "k" }, ["body", "feedback_config"]],
      ["DELETE", "/feedback-configs", undefined, ["query", "feedback_key"]],
    ];
    for (const [method, path, body, loc] of refused) {
      const { status, body: error } = await answer(api(method, path, body));
      const [first] = (error as Detail).detail;
      expect([method, path, status, first?.loc]).toEqual([method, path, 422, loc]);
    }
  });
});
