import { describe, test } from "vitest";
import { FeedbackBodyError } from "../../../../../../src/tracing/feedback/feedback-input.ts";
import { parseFeedbackBody } from "../../../../../../src/tracing/api/v1/feedback/feedback-body.ts";

const ID = "0198c0de-0000-7000-8000-0000000000f1";
const RUN = "0198c0de-0000-7000-8000-000000000001";
const TRACE = "0198c0de-0000-7000-8000-000000000002";
const SESSION = "0198c0de-0000-7000-8000-000000000003";
const USER = "0198c0de-0000-7000-8000-000000000004";

const BARE = {
  id: ID,
  runId: RUN,
  traceId: null,
  sessionId: null,
  key: "k",
  score: null,
  valueJson: null,
  comment: null,
  correctionJson: null,
  sourceType: "api",
  sourceJson: '{"type":"api","metadata":null,"user_id":null,"ls_user_id":null,"user_name":null}',
  config: null,
  groupId: null,
  comparativeExperimentId: null,
  error: false,
  extraJson: null,
  extendTraceRetention: true,
  startTime: null,
  createdAt: null,
  modifiedAt: null,
};

function refusal(body: unknown): { field: string; message: string } {
  try {
    parseFeedbackBody(body);
  } catch (error) {
    if (error instanceof FeedbackBodyError) return { field: error.field, message: error.message };
    throw error;
  }
  throw new Error("It was accepted");
}

describe("parseFeedbackBody", () => {
  test("requires a key, and a run, trace or project", ({ expect }) => {
    expect(parseFeedbackBody({ id: ID, run_id: RUN, key: "k" })).toEqual(BARE);
  });

  test("reads every field", ({ expect }) => {
    const input = parseFeedbackBody({
      id: ID.toUpperCase(),
      run_id: RUN,
      trace_id: TRACE,
      session_id: SESSION,
      key: "k",
      score: 0.5,
      value: { label: "fine" },
      comment: "so so",
      correction: { answer: 42 },
      feedback_source: { type: "model", metadata: { judge: 1 }, user_id: USER, user_name: null },
      feedback_config: { type: "continuous", min: 0, max: 1 },
      feedback_group_id: TRACE,
      comparative_experiment_id: SESSION,
      error: true,
      extra: { a: 1 },
      extend_trace_retention: false,
      start_time: "2026-08-01T12:00:00.123456Z",
      created_at: "2026-08-01T14:00:00+02:00",
      modified_at: "2026-08-01T12:00:00",
    });
    const noon = Date.UTC(2026, 7, 1, 12);
    expect(input).toEqual({
      ...BARE,
      traceId: TRACE,
      score: 0.5,
      valueJson: '{"label":"fine"}',
      comment: "so so",
      correctionJson: '{"answer":42}',
      sourceType: "model",
      sourceJson: `{"type":"model","metadata":{"judge":1},"user_id":"${USER}","ls_user_id":null,"user_name":null}`,
      config: { type: "continuous", min: 0, max: 1 },
      groupId: TRACE,
      comparativeExperimentId: SESSION,
      error: true,
      extraJson: '{"a":1}',
      extendTraceRetention: false,
      startTime: noon + 123,
      createdAt: noon,
      modifiedAt: noon,
    });
  });

  test("treats null as missing, as SDKs send it", ({ expect }) => {
    const names = ["trace_id", "session_id", "score", "value", "comment", "correction", "extra"];
    const others = ["feedback_source", "feedback_config", "error", "start_time", "created_at"];
    const nulls = Object.fromEntries([...names, ...others].map((name) => [name, null]));
    expect(parseFeedbackBody({ ...nulls, id: ID, run_id: RUN, key: "k" })).toEqual(BARE);
  });

  test("uses the id of its part if it has none", ({ expect }) => {
    expect(parseFeedbackBody({ run_id: RUN, key: "k" }, ID).id).toBe(ID);
    expect(parseFeedbackBody({ id: ID, run_id: RUN, key: "k" }, TRACE).id).toBe(ID);
    const made = [1, 2].map(() => parseFeedbackBody({ run_id: RUN, key: "k" }).id);
    expect(new Set(made).size).toBe(2);
  });

  test("is about the root if it names only a trace", ({ expect }) => {
    const input = parseFeedbackBody({ trace_id: TRACE, session_id: SESSION, key: "k" });
    expect([input.runId, input.traceId, input.sessionId]).toEqual([TRACE, TRACE, null]);
  });

  test("is about a project if it names no run", ({ expect }) => {
    const input = parseFeedbackBody({ run_id: null, session_id: SESSION, key: "k" });
    expect([input.runId, input.traceId, input.sessionId]).toEqual([null, null, SESSION]);
  });

  test.for([
    [true, 1],
    [false, 0],
    [0.12345, 0.12345],
  ] as const)("accepts the score %j as %j", ([score, expected], { expect }) => {
    expect(parseFeedbackBody({ run_id: RUN, key: "k", score }).score).toBe(expected);
  });

  test.for([
    ["text", '"text"'],
    [5, "5"],
    [false, "false"],
    [{}, "{}"],
  ] as const)("keeps the value %j", ([value, json], { expect }) => {
    expect(parseFeedbackBody({ run_id: RUN, key: "k", value }).valueJson).toBe(json);
  });

  test("accepts other names of the config and the retention", ({ expect }) => {
    const feedbackConfig = { type: "freeform" };
    const input = parseFeedbackBody({
      run_id: RUN,
      key: "k",
      feedbackConfig,
      _skip_trace_upgrade: true,
    });
    expect([input.config, input.extendTraceRetention]).toEqual([feedbackConfig, false]);
  });

  test("ignores unknown members, and lists them", ({ expect }) => {
    const noted: unknown[] = [];
    const body = { id: ID, run_id: RUN, key: "k", agent_id: "a", feedback_source: { by: "me" } };
    const input = parseFeedbackBody(body, ID, (members) => noted.push(members));
    expect(input).toEqual(BARE);
    expect(noted).toEqual([
      { path: ["feedback_source"], keys: ["by"] },
      { path: [], keys: ["agent_id"] },
    ]);
  });

  test.for([
    [[], "", "Input should be an object"],
    [{ run_id: RUN }, "key", "Field required"],
    [{ run_id: RUN, key: "" }, "key", "String should have at least 1 characters"],
    [{ run_id: RUN, key: "k".repeat(181) }, "key", "String should have at most 180 characters"],
    [{ run_id: "1", key: "k" }, "run_id", "Input should be a valid UUID"],
    [{ key: "k" }, "run_id", "Give a run_id, a trace_id or a session_id"],
    [{ run_id: RUN, key: "k", score: "1" }, "score", "Input should be a valid number"],
    [
      { run_id: RUN, key: "k", value: ["a"] },
      "value",
      "Input should be a number, a boolean, a string or an object",
    ],
    [
      { run_id: RUN, key: "k", feedback_source: { type: "me" } },
      "feedback_source.type",
      "Input should be 'api', 'model', 'app' or 'auto_eval'",
    ],
    [
      { run_id: RUN, key: "k", created_at: "soon" },
      "created_at",
      "Input should be a valid datetime",
    ],
    [
      { run_id: RUN, key: "k", comment: "c".repeat(600_000) },
      "",
      "Feedback should have at most 524288 characters of JSON",
    ],
  ] as const)("refuses %j", ([body, field, message], { expect }) => {
    expect(refusal(body)).toEqual({ field, message });
  });
});
