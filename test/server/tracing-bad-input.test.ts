import { describe } from "vitest";
import { ACCEPTED, fieldPart, ingestWorkspace, refused, runPart } from "../support/ingest.ts";
import { testWithSharedServer } from "../support/shared-server.ts";
import { type RunData, runData, segment } from "../support/trace-data.ts";
import { MISSING_ID } from "../support/uuid.ts";

const test = testWithSharedServer().extend("workspace", { scope: "file" }, ({ server }) =>
  ingestWorkspace(server, "bad input"),
);

const OTHER_ID = "0198c0de-0000-7000-8000-00000000000a";

const LONG = "x".repeat(10_001);

/** `change` makes a run invalid; `field` and `message` are in the answer. */
const BAD_RUNS: [what: string, change: (run: RunData) => object, field: string, message: string][] =
  [
    [
      "an unknown run_type",
      () => ({ run_type: "agent" }),
      "run_type",
      "should be one of tool, chain, llm, retriever, embedding, prompt, parser",
    ],
    ["no run_type", () => ({ run_type: undefined }), "run_type", "is required"],
    ["no name", () => ({ name: null }), "name", "is required"],
    ["a name that is not a text", () => ({ name: 7 }), "name", "should be a string"],
    ["NUL in its name", () => ({ name: "a\0b" }), "name", "should not contain a NUL character"],
    ["a long name", () => ({ name: LONG }), "name", "should have at most 10000 characters"],
    ["no dotted_order", () => ({ dotted_order: undefined }), "dotted_order", "is required"],
    [
      "a dotted_order of another form",
      ({ id }) => ({ dotted_order: `2026-08-01T00:00:00Z${id}` }),
      "dotted_order",
      "should be YYYYMMDDTHHMMSSffffffZ<run id> for each run from the root on, joined by dots",
    ],
    [
      "a dotted_order of another run",
      () => ({ dotted_order: segment(new Date(), OTHER_ID) }),
      "dotted_order",
      `its last run ${OTHER_ID} differs from id <id>`,
    ],
    [
      "a trace_id that is not in its dotted_order",
      () => ({ trace_id: OTHER_ID }),
      "trace_id",
      `${OTHER_ID} differs from <id>, the first of dotted_order`,
    ],
    [
      "a parent that is not in its dotted_order",
      () => ({ parent_run_id: OTHER_ID }),
      "parent_run_id",
      `${OTHER_ID} is not in dotted_order, according to which the run has no parent`,
    ],
    [
      "a parent that is another one than in its dotted_order",
      ({ id, dotted_order }) => ({
        trace_id: OTHER_ID,
        dotted_order: `${segment(new Date(), OTHER_ID)}.${dotted_order}`,
        parent_run_id: id,
      }),
      "parent_run_id",
      `<id> differs from ${OTHER_ID}, the second to last of dotted_order`,
    ],
    [
      "a start that is not a time",
      () => ({ start_time: "yesterday" }),
      "start_time",
      "should be an ISO 8601 time or a number of milliseconds since 1970, between 1970 and 2255",
    ],
    [
      "an end before 1970",
      () => ({ end_time: -1 }),
      "end_time",
      "should be an ISO 8601 time or a number of milliseconds since 1970, between 1970 and 2255",
    ],
    ["tags that are no list", () => ({ tags: "a" }), "tags", "should be a list of strings"],
    ["a tag that is not a text", () => ({ tags: ["a", 1] }), "tags[1]", "should be a string"],
    [
      "too many tags",
      () => ({ tags: Array.from({ length: 1001 }, String) }),
      "tags",
      "should have at most 1000 items",
    ],
    [
      "tags that are too long together",
      () => ({ tags: Array(1000).fill(LONG.slice(1)) }),
      "tags",
      "should have at most 100000 characters in all",
    ],
    ["an extra that is a list", () => ({ extra: [] }), "extra", "should be an object"],
    [
      "a large extra",
      () => ({ extra: { text: "x".repeat(1024 * 1024) } }),
      "extra",
      "should be no larger than 1048576 bytes",
    ],
    ["events that are no list", () => ({ events: 7 }), "events", "should be a list"],
    ["an invalid session_id", () => ({ session_id: "x" }), "session_id", "should be a UUID"],
  ];

/** Problems of the JSON text of a run, in which `"here"` is replaced. */
const BAD_TEXTS: [what: string, text: string, message: string][] = [
  [
    "an integer beyond 64 bits",
    "18446744073709551616",
    "has the integer 18446744073709551616, which is outside of 64 bits",
  ],
  [
    "a value 1000 levels deep",
    "[".repeat(1000) + "]".repeat(1000),
    "is nested deeper than 500 levels",
  ],
];

/** Returns an invalid run between two valid ones. */
function threeRuns(change: (run: RunData) => object): [RunData, RunData, RunData] {
  const bad = runData("bad");
  return [runData("bad"), { ...bad, ...change(bad) }, runData("bad")];
}

describe("a bad run does not affect the others of its request", () => {
  test.for(BAD_RUNS)(
    "with %s in a run",
    async ([, change, field, template], { workspace, expect }) => {
      for (const [place, sendAll] of [
        ["post[1]", (runs: RunData[]) => workspace.batch({ post: runs })],
        ["post.<id>", (runs: RunData[]) => workspace.multipart(runs.map((run) => runPart(run)))],
      ] as const) {
        const runs = threeRuns(change);
        const [before, { id }, after] = runs;
        const name = `${place.replace("<id>", id)}.${field}`;
        const message = `${name}: ${template.replace("<id>", id)}`;
        expect(await sendAll(runs)).toEqual(refused(2, [{ run_id: id, field: name, message }]));
        expect(await workspace.stored(runs)).toEqual([before.id, after.id]);
      }
    },
  );

  test.for(BAD_TEXTS)("with %s as JSON", async ([, text, problem], { workspace, expect }) => {
    const runs = threeRuns(() => ({ inputs: { value: "here" } }));
    const [before, { id }, after] = runs;
    const body = JSON.stringify({ post: runs }).replace('"here"', text);
    expect(await workspace.batch(body)).toEqual(
      refused(2, [{ run_id: id, field: "post[1]", message: `post[1]: ${problem}` }]),
    );
    expect(await workspace.stored(runs)).toEqual([before.id, after.id]);

    const apart = threeRuns(() => ({}));
    const [first, bad, last] = apart;
    const name = `post.${bad.id}.inputs`;
    const parts = [runPart(first), runPart(bad), fieldPart(bad, "inputs", text), runPart(last)];
    expect(await workspace.multipart(parts)).toEqual(
      refused(2, [{ run_id: bad.id, field: name, message: `${name}: ${problem}` }]),
    );
    expect(await workspace.stored(apart)).toEqual([first.id, last.id]);
  });

  test("with a project that does not exist", async ({ workspace, expect }) => {
    const message = `session_id: project ${MISSING_ID} not found`;
    for (const sendAll of [
      (runs: RunData[]) => workspace.batch({ post: runs }),
      (runs: RunData[]) => workspace.multipart(runs.map((run) => runPart(run))),
    ]) {
      const runs = threeRuns(() => ({ session_id: MISSING_ID }));
      const [before, { id }, after] = runs;
      const failure = { run_id: id, field: "session_id", message };
      expect(await sendAll(runs)).toEqual(refused(2, [failure]));
      expect(await workspace.stored(runs)).toEqual([before.id, after.id]);
      // A single run gets the same answer: a 404 would tell clients that the route does not exist.
      const alone = { ...runData("bad"), session_id: MISSING_ID };
      expect(await sendAll([alone])).toEqual(refused(0, [{ ...failure, run_id: alone.id }]));
    }
  });

  test("with text that is not UTF-8", async ({ workspace, expect }) => {
    const runs = threeRuns(() => ({}));
    const [before, { id }, after] = runs;
    const parts = [runPart(before), { name: `post.${id}`, body: "{\xff}" }, runPart(after)];
    const latin1 = (body: string) => body.replace("{\xc3\xbf}", "{\xff}\n");
    const message = `post.${id}: is not UTF-8`;
    expect(await workspace.multipart(parts, latin1)).toEqual(
      refused(2, [{ run_id: id, field: `post.${id}`, message }]),
    );
    expect(await workspace.stored(runs)).toEqual([before.id, after.id]);

    const batch = Buffer.from(
      JSON.stringify({ post: runs }).replace('"a run"', '"\xff"'),
      "latin1",
    );
    expect(await workspace.post("/runs/batch", batch)).toEqual({
      status: 422,
      body: { detail: [{ loc: ["body"], msg: "the body is not UTF-8", type: "json_invalid" }] },
    });
  });
});

describe("a list of runs", () => {
  test("keeps its runs if it contains other values", async ({ workspace, expect }) => {
    const [before, after] = [runData("bad"), runData("bad")];
    const body = { post: [before, [], null, "run", 7, true, after], patch: [{}] };
    const places = ["post[1]", "post[2]", "post[3]", "post[4]", "post[5]"];
    expect(await workspace.batch(body)).toEqual(
      refused(2, [
        ...places.map((field) => ({
          run_id: null,
          field,
          message: `${field}: a run should be an object`,
        })),
        { run_id: null, field: "patch[0].id", message: "patch[0].id: is required" },
      ]),
    );
    expect(await workspace.stored([before, after])).toEqual([before.id, after.id]);
  });

  test("names a hundred of many invalid runs", async ({ workspace, expect }) => {
    const run = runData("bad");
    const { status, body } = await workspace.batch({ post: [...Array(5000).fill(0), run] });
    expect([status, body]).toEqual([
      422,
      {
        detail: "post[0]: a run should be an object (and 4999 more)",
        errors: expect.toSatisfy((errors: { field: string }[]) => {
          return errors.length === 100 && errors[99]?.field === "post[99]";
        }),
        failed: 5000,
        accepted: 1,
      },
    ]);
    expect(await workspace.stored([run])).toEqual([run.id]);
    const tooMany = await workspace.batch({ patch: Array(100_001).fill(0) });
    expect(tooMany).toEqual({
      status: 422,
      body: {
        detail: [
          {
            loc: ["body", "patch"],
            msg: "List should have at most 100000 items",
            type: "too_long",
          },
        ],
      },
    });
  });

  test.for([
    ["", ["body"], "the body is not JSON: Unexpected end of JSON input", "json_invalid"],
    ["[]", ["body"], "Input should be an object", "dict_type"],
    ["null", ["body"], "Input should be an object", "dict_type"],
    ['"post"', ["body"], "Input should be an object", "dict_type"],
    ['{"post":{}}', ["body", "post"], "Input should be a valid list", "list_type"],
    ['{"patch":7}', ["body", "patch"], "Input should be a valid list", "list_type"],
  ] as const)(
    "is refused if the body is %s",
    async ([body, loc, msg, type], { workspace, expect }) => {
      const detail = [{ loc, msg, type }];
      expect(await workspace.batch(body)).toEqual({ status: 422, body: { detail } });
    },
  );
});

describe("an update", () => {
  test("is refused for an unknown run if it lacks required fields", async ({
    workspace,
    expect,
  }) => {
    const { api } = workspace;
    const response = await api("PATCH", `/runs/${MISSING_ID}`, { end_time: Date.now() });
    expect([response.status, await response.json()]).toEqual([
      404,
      { detail: `Run ${MISSING_ID} not found` },
    ]);
    const attachment = { name: `attachment.${MISSING_ID}.a`, body: "a", contentType: "text/plain" };
    const message = `Run ${MISSING_ID} not found`;
    expect(await workspace.multipart([attachment])).toEqual(
      refused(0, [{ run_id: MISSING_ID, field: "id", message }]),
    );
  });
});

describe("a single run", () => {
  test.for<[string, string, unknown, number, unknown]>([
    ["POST", "/runs", [], 422, { loc: ["body"], msg: "a run should be an object" }],
    ["POST", "/runs", {}, 422, { loc: ["body", "name"], msg: "is required" }],
    ["POST", "/runs", { trace_id: OTHER_ID }, 422, { loc: ["body", "id"], msg: "is required" }],
    ["PATCH", `/runs/${MISSING_ID}`, 7, 422, { loc: ["body"], msg: "a run should be an object" }],
    [
      "PATCH",
      `/runs/${MISSING_ID}`,
      { id: OTHER_ID },
      422,
      {
        loc: ["body", "id"],
        msg: `${OTHER_ID} differs from ${MISSING_ID}, under which the run was sent`,
      },
    ],
  ])(
    "is refused: %s %s %j",
    async ([method, path, body, status, detail], { workspace, expect }) => {
      const { api } = workspace;
      const response = await api(method, path, body);
      expect([response.status, await response.json()]).toEqual([
        status,
        { detail: [{ ...(detail as object), type: "invalid_run" }] },
      ]);
    },
  );

  test("is refused below an unknown parent, or in an unknown project", async ({
    workspace,
    expect,
  }) => {
    const { api } = workspace;
    const run = { id: OTHER_ID, name: "a run", run_type: "chain", start_time: Date.now() };
    const orphan = await api("POST", "/runs", { ...run, parent_run_id: MISSING_ID });
    expect([orphan.status, await orphan.json()]).toEqual([
      404,
      {
        detail: `parent_run_id: run ${MISSING_ID} not found, so dotted_order cannot be computed`,
      },
    ]);
    const homeless = await api("POST", "/runs", { ...run, session_id: MISSING_ID });
    expect([homeless.status, await homeless.json()]).toEqual([
      404,
      { detail: `session_id: project ${MISSING_ID} not found` },
    ]);
  });
});

describe("feedback in a request", () => {
  const feedback = (id: string, body: unknown) => ({
    name: `feedback.${id}`,
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

  test("affects neither runs nor other feedback if it is invalid", async ({
    workspace,
    expect,
  }) => {
    const run = runData("bad");
    const good = crypto.randomUUID();
    const [noJson, noRun, badRun, large] = [1, 2, 3, 4].map((digit) =>
      MISSING_ID.replace(/0$/, String(digit)),
    ) as [string, string, string, string];
    const answer = await workspace.multipart([
      feedback(noJson, "{"),
      feedback(noRun, { key: "quality", score: 1 }),
      feedback(badRun, { key: "quality", run_id: "x" }),
      feedback(large, { key: "quality", run_id: run.id, comment: "c".repeat(600_000) }),
      feedback(good, { key: "quality", run_id: run.id, trace_id: run.id, score: 1, error: null }),
      runPart(run),
    ]);
    const failure = (id: string, message: string) => ({
      run_id: null,
      field: `feedback.${id}`,
      message: expect.stringMatching(new RegExp(`^feedback\\.${id}: ${message}`)),
    });
    expect(answer).toEqual({
      status: 422,
      body: {
        detail: expect.stringMatching(/\(and 3 more\)$/),
        errors: [
          failure(noJson, "is not JSON"),
          failure(noRun, "run_id: Give a run_id, a trace_id or a session_id"),
          failure(badRun, "run_id: Input should be a valid UUID"),
          failure(large, "Feedback should have at most 524288 characters of JSON"),
        ],
        failed: 4,
        accepted: 1,
      },
    });
    expect(await workspace.stored([run])).toEqual([run.id]);
    expect(await workspace.client.readFeedback(good)).toMatchObject({ run_id: run.id, score: 1 });
    expect((await workspace.client.readRun(run.id)).feedback_stats).toMatchObject({
      quality: { n: 1, avg: 1 },
    });
  });

  test("waits for its run if that is refused", async ({ workspace, expect }) => {
    const run = runData("bad");
    const id = crypto.randomUUID();
    const opinion = feedback(id, { key: "quality", run_id: run.id, score: 1 });
    const bad = await workspace.multipart([runPart({ ...run, run_type: "agent" }), opinion]);
    expect(bad).toMatchObject({ status: 422, body: { failed: 1, accepted: 0 } });
    expect(await workspace.client.readFeedback(id)).toMatchObject({ session_id: null });
    expect(await workspace.multipart([runPart(run)])).toEqual(ACCEPTED);
    await expect
      .poll(async () => (await workspace.client.readRun(run.id)).feedback_stats)
      .toMatchObject({ quality: { n: 1, avg: 1 } });
  });
});
