import { describe, test } from "vitest";
import { InvalidRun } from "../../../../src/tracing/ingest/decode/invalid-run.ts";
import {
  readRun,
  readRunJson,
  type ReadRunOptions,
} from "../../../../src/tracing/ingest/decode/run-body.ts";
import { parseJsonValue } from "../../../../src/tracing/ingest/decode/json-value.ts";
import { thrown, utf8 } from "./support/bytes.ts";
import {
  CHILD,
  CHILD_ORDER,
  OTHER,
  ROOT,
  ROOT_ORDER,
  rootRun,
  START,
} from "./support/sample-runs.ts";

const REQUIRED: ReadRunOptions = { identity: "required" };
const OPTIONAL: ReadRunOptions = { identity: "optional" };

/** Returns the errors as [run, field, message]. */
function refusal(
  kind: "post" | "patch",
  value: unknown,
  options = REQUIRED,
): [string | undefined, string, string] {
  const error = thrown(() => readRun(kind, value, options));
  if (!(error instanceof InvalidRun)) throw error;
  return [error.runId, error.field, error.message];
}

function refusedField(more: Record<string, unknown>): [string, string] {
  const [runId, field, message] = refusal("post", rootRun(ROOT, more));
  if (runId !== ROOT) throw new Error(`the error is about run ${runId}`);
  return [field, message];
}

describe("readRun", () => {
  test("reads all fields of a create", ({ expect }) => {
    const run = {
      id: CHILD.toUpperCase(),
      trace_id: ROOT.replaceAll("-", ""),
      parent_run_id: ROOT,
      dotted_order: CHILD_ORDER.replace(CHILD, CHILD.toUpperCase()),
      name: "model",
      run_type: "llm",
      start_time: "2026-08-01T12:00:00.000002",
      end_time: 1_785_585_601_000.5,
      session_name: "demo",
      tags: ["a", "b"],
      reference_example_id: OTHER.toUpperCase(),
      inputs: { q: "hi" },
      outputs: { a: "hello" },
      events: [{ name: "new_token", time: 1_785_585_600_500 }],
      extra: { metadata: { user: "u" } },
      serialized: { name: "x" },
      error: "broken",
      status: "success",
      child_runs: [],
      execution_order: 1,
      unheard_of: true,
    };
    expect(readRun("post", run, REQUIRED)).toEqual({
      kind: "post",
      id: CHILD,
      identity: { traceId: ROOT, parentRunId: ROOT, dottedOrder: CHILD_ORDER },
      project: { name: "demo" },
      name: "model",
      runType: "llm",
      startTime: START + 1,
      endTime: START + 1_000_499,
      tags: ["a", "b"],
      referenceExampleId: OTHER,
      payloads: {
        inputs: { json: '{"q":"hi"}' },
        outputs: { json: '{"a":"hello"}' },
        events: { json: '[{"name":"new_token","time":1785585600500}]' },
        extra: { json: '{"metadata":{"user":"u"}}' },
        serialized: { json: '{"name":"x"}' },
        error: { json: '"broken"' },
      },
      facts: {
        inputsPreview: "hi",
        inputLeaves: JSON.stringify([["q", "hi"]]),
        outputsPreview: "hello",
        outputLeaves: JSON.stringify([["a", "hello"]]),
        usage: null,
        firstTokenTime: 1_785_585_600_500_000,
      },
    });
  });

  test("treats null as missing, and does not need derived fields", ({ expect }) => {
    const nulls = Object.fromEntries(
      [
        "parent_run_id",
        "trace_id",
        "start_time",
        "end_time",
        "session_id",
        "session_name",
        "tags",
        "reference_example_id",
        "inputs",
        "outputs",
        "events",
        "extra",
        "serialized",
        "error",
      ].map((field) => [field, null]),
    );
    const expected = {
      kind: "post",
      id: ROOT,
      identity: { traceId: ROOT, parentRunId: null, dottedOrder: ROOT_ORDER },
      project: undefined,
      name: "agent",
      runType: "chain",
      startTime: START,
      payloads: {},
      facts: {},
    };
    expect(readRun("post", rootRun(ROOT, nulls), REQUIRED)).toEqual(expected);
    expect(readRun("post", rootRun(), REQUIRED)).toEqual(expected);
  });

  test("needs only the position of an update", ({ expect }) => {
    const update = { id: ROOT, dotted_order: ROOT_ORDER, end_time: 1_785_585_601_000 };
    expect(readRun("patch", update, REQUIRED)).toEqual({
      kind: "patch",
      id: ROOT,
      identity: { traceId: ROOT, parentRunId: null, dottedOrder: ROOT_ORDER },
      project: undefined,
      endTime: 1_785_585_601_000_000,
      payloads: {},
      facts: {},
    });
  });

  test("needs no position of a single run", ({ expect }) => {
    const post = { id: CHILD, parent_run_id: ROOT, name: "x", run_type: "tool", start_time: 1 };
    expect(readRun("post", post, OPTIONAL)).toMatchObject({
      identity: undefined,
      parentRunId: ROOT,
      startTime: 1000,
    });
    expect(readRun("post", { ...post, parent_run_id: null }, OPTIONAL)).toMatchObject({
      identity: undefined,
      parentRunId: null,
    });
    expect(readRun("patch", { end_time: 1 }, { ...OPTIONAL, id: ROOT })).toEqual({
      kind: "patch",
      id: ROOT,
      identity: undefined,
      parentRunId: null,
      project: undefined,
      endTime: 1000,
      payloads: {},
      facts: {},
    });
    // Only a new run can be in the wrong trace: the position of others is known.
    expect(readRun("patch", { trace_id: OTHER }, { ...OPTIONAL, id: ROOT }).id).toBe(ROOT);
    expect(refusal("post", { ...post, parent_run_id: null, trace_id: OTHER }, OPTIONAL)).toEqual([
      CHILD,
      "trace_id",
      `${OTHER} differs from id ${CHILD}, but there is neither parent_run_id nor dotted_order`,
    ]);
    expect(refusal("post", { ...post, start_time: undefined }, OPTIONAL)).toEqual([
      CHILD,
      "start_time",
      "is required",
    ]);
  });

  test("reports the missing fields of a run", ({ expect }) => {
    for (const field of ["dotted_order", "name", "run_type"]) {
      expect(refusedField({ [field]: undefined })).toEqual([field, "is required"]);
      expect(refusedField({ [field]: null })).toEqual([field, "is required"]);
    }
    expect(refusal("post", rootRun(ROOT, { id: undefined }))).toEqual([
      undefined,
      "id",
      "is required",
    ]);
    expect(refusal("patch", { id: ROOT })).toEqual([ROOT, "dotted_order", "is required"]);
  });

  test.for([null, [], "run", 3])("refuses %j as a run", (value, { expect }) => {
    expect(refusal("post", value, { identity: "required", id: ROOT })).toEqual([
      ROOT,
      "",
      "a run should be an object",
    ]);
  });

  test("names ids that contradict each other", ({ expect }) => {
    const child = { ...rootRun(CHILD), trace_id: ROOT, dotted_order: CHILD_ORDER };
    expect(refusal("post", rootRun(), { identity: "required", id: OTHER })).toEqual([
      OTHER,
      "id",
      `${ROOT} differs from ${OTHER}, under which the run was sent`,
    ]);
    expect(refusal("post", { ...child, id: OTHER })).toEqual([
      OTHER,
      "dotted_order",
      `its last run ${CHILD} differs from id ${OTHER}`,
    ]);
    expect(refusal("patch", { ...child, trace_id: OTHER })).toEqual([
      CHILD,
      "trace_id",
      `${OTHER} differs from ${ROOT}, the first of dotted_order`,
    ]);
    expect(refusal("patch", { ...child, parent_run_id: OTHER })).toEqual([
      CHILD,
      "parent_run_id",
      `${OTHER} differs from ${ROOT}, the second to last of dotted_order`,
    ]);
    expect(refusal("patch", { ...rootRun(), parent_run_id: OTHER })).toEqual([
      ROOT,
      "parent_run_id",
      `${OTHER} is not in dotted_order, according to which the run has no parent`,
    ]);
  });

  test.for([
    [{ trace_id: "x" }, "trace_id", "should be a UUID"],
    [{ trace_id: 5 }, "trace_id", "should be a UUID"],
    [{ parent_run_id: "" }, "parent_run_id", "should be a UUID"],
    [
      { dotted_order: ROOT },
      "dotted_order",
      "should be YYYYMMDDTHHMMSSffffffZ<run id> for each run from the root on, joined by dots",
    ],
    [{ dotted_order: 1 }, "dotted_order", "should be a string"],
    [{ name: 1 }, "name", "should be a string"],
    [{ name: "x".repeat(10_001) }, "name", "should have at most 10000 characters"],
    [{ name: "a\0b" }, "name", "should not contain a NUL character"],
    [
      { run_type: "agent" },
      "run_type",
      "should be one of tool, chain, llm, retriever, embedding, prompt, parser",
    ],
    [
      { start_time: "yesterday" },
      "start_time",
      "should be an ISO 8601 time or a number of milliseconds since 1970, between 1970 and 2255",
    ],
    [
      { end_time: 1e15 },
      "end_time",
      "should be an ISO 8601 time or a number of milliseconds since 1970, between 1970 and 2255",
    ],
    [{ tags: "a" }, "tags", "should be a list of strings"],
    [{ tags: ["a", 1] }, "tags[1]", "should be a string"],
    [{ tags: ["a\0"] }, "tags[0]", "should not contain a NUL character"],
    [{ tags: Array(1001).fill("a") }, "tags", "should have at most 1000 items"],
    [{ session_id: "demo" }, "session_id", "should be a UUID"],
    [{ session_name: 1 }, "session_name", "should be a string"],
    [{ session_name: "a\0" }, "session_name", "should not contain a NUL character"],
    [{ reference_example_id: "x" }, "reference_example_id", "should be a UUID"],
    [{ events: "x" }, "events", "should be a list"],
    [{ extra: [] }, "extra", "should be an object"],
    [{ extra: "x" }, "extra", "should be an object"],
    [{ extra: { a: "é".repeat(600_000) } }, "extra", "should be no larger than 1048576 bytes"],
  ] as const)("refuses %j", ([more, field, message], { expect }) => {
    expect(refusedField(more)).toEqual([field, message]);
  });

  test("accepts values that only look too large", ({ expect }) => {
    const extra = { a: "x".repeat(1_000_000) };
    const run = rootRun(ROOT, { extra, name: "x".repeat(10_000), tags: Array(1000).fill("a") });
    expect(readRun("post", run, REQUIRED).payloads.extra).toEqual({ json: JSON.stringify(extra) });
  });

  test("prefers a project's id to its name, and ignores an empty name", ({ expect }) => {
    const projectOf = (more: Record<string, unknown>): unknown =>
      readRun("post", rootRun(ROOT, more), REQUIRED).project;
    expect(projectOf({ session_id: OTHER.toUpperCase(), session_name: "demo" })).toEqual({
      id: OTHER,
    });
    expect(projectOf({ session_name: "demo" })).toEqual({ name: "demo" });
    expect(projectOf({ session_name: "" })).toBeUndefined();
  });

  test("accepts any JSON as payloads, and turns other errors into texts", ({ expect }) => {
    const run = rootRun(ROOT, {
      inputs: ["a\0"],
      outputs: "text",
      serialized: 1,
      error: { code: 1 },
    });
    expect(readRun("post", run, REQUIRED).payloads).toEqual({
      inputs: { json: String.raw`["a\u0000"]` },
      outputs: { json: '"text"' },
      serialized: { json: "1" },
      error: { json: '"{\\"code\\":1}"' },
    });
  });

  test("does not treat a name from Object.prototype as a field", ({ expect }) => {
    const run = JSON.parse(JSON.stringify(rootRun()).replace("{", '{"__proto__":{"tags":["x"]},'));
    expect(readRun("post", run, REQUIRED).tags).toBeUndefined();
  });
});

describe("readRunJson", () => {
  test("keeps the text of payloads", ({ expect }) => {
    const head = JSON.stringify(rootRun()).slice(0, -1);
    const text = ` ${head}, "inputs" : {"n": 12345678901234567890, "f": 1.0} ,
      "out\\u0070uts": [ 1e400, "\\"}" ], "error": {"a": 1.0}}`;
    const { payloads } = readRunJson("post", parseJsonValue(utf8(text)), REQUIRED);
    expect(payloads).toEqual({
      inputs: { json: '{"n": 12345678901234567890, "f": 1.0}' },
      outputs: { json: '[ 1e400, "\\"}" ]' },
      error: { json: '"{\\"a\\": 1.0}"' },
    });
  });

  test("uses the last one of a repeated key", ({ expect }) => {
    const text = JSON.stringify(rootRun()).replace("{", '{"inputs":{"a":1.0},"inputs":{"b":2.0},');
    const write = readRunJson("post", parseJsonValue(utf8(text)), REQUIRED);
    expect(write.payloads.inputs).toEqual({ json: '{"b":2.0}' });
    expect(write.facts.inputLeaves).toBe(JSON.stringify([["b", "2"]]));
  });

  test("refuses a document that is not an object", ({ expect }) => {
    for (const text of ["[]", '["inputs"]', "null", '"inputs"']) {
      expect(thrown(() => readRunJson("post", parseJsonValue(utf8(text)), REQUIRED))).toMatchObject(
        {
          name: "InvalidRun",
          message: "a run should be an object",
        },
      );
    }
  });
});
