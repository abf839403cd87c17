import { describe, test } from "vitest";
import { toThreadTraceJson, toTraceJson } from "../../../../../src/tracing/api/v2/trace-json.ts";
import { NOON, readRun, TRACE_ID } from "./support/read-run.ts";

describe("toThreadTraceJson", () => {
  test("has the trace's id, whatever is selected", ({ expect }) => {
    expect(toThreadTraceJson(readRun(), [])).toEqual([`{"trace_id":"${TRACE_ID}"}`]);
    expect(toThreadTraceJson(readRun(), ["NAME", "TRACE_ID", "NAME"])).toEqual([
      `{"trace_id":"${TRACE_ID}","name":"model"}`,
    ]);
  });

  test("has separate names for the latency and the run type", ({ expect }) => {
    const run = readRun({ end_time: NOON + 500_000, run_type: "tool" });
    expect(toThreadTraceJson(run, ["LATENCY", "OP"])).toEqual([
      `{"trace_id":"${TRACE_ID}","latency":0.5,"op":1}`,
    ]);
    expect(toThreadTraceJson(readRun({ run_type: "other" }), ["LATENCY", "OP"])).toEqual([
      `{"trace_id":"${TRACE_ID}","op":0}`,
    ]);
  });

  test("omits large payloads", ({ expect }) => {
    const payloads = { inputs: { object: "p/1", bytes: 9 }, outputs: { json: "[1]" } };
    expect(toThreadTraceJson(readRun({ payloads }), ["INPUTS", "OUTPUTS"])).toEqual([
      `{"trace_id":"${TRACE_ID}","inputs":`,
      { object: "p/1" },
      ',"outputs":[1]}',
    ]);
  });
});

describe("toTraceJson", () => {
  const root = { trace_id: TRACE_ID, total_tokens: 7, total_cost: 2_000_000_000_000 };
  const text = (...args: Parameters<typeof toTraceJson>) =>
    toTraceJson(...args)
      .map(String)
      .join("");

  test("has aggregates only when any is selected", ({ expect }) => {
    expect(text(['{"id":"x"}'], root, ["ID"], new Map())).toBe('{"root_run":{"id":"x"}}');
    expect(text(["{}"], root, ["TOTAL_TOKENS"], new Map())).toBe(
      '{"root_run":{},"trace_aggregates":{"total_tokens":7}}',
    );
  });

  test("omits missing aggregates", ({ expect }) => {
    const selected = ["TOTAL_COST", "FIRST_TOKEN_TIME"] as const;
    expect(text(["{}"], root, selected, new Map([[TRACE_ID, NOON]]))).toBe(
      '{"root_run":{},"trace_aggregates":{"total_cost":2,"first_token_time":"2026-08-01T12:00:00.000001Z"}}',
    );
    expect(text(["{}"], { ...root, total_cost: null }, selected, new Map())).toBe(
      '{"root_run":{},"trace_aggregates":{}}',
    );
  });
});
