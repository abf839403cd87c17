import { describe, test } from "vitest";
import {
  ALWAYS_SELECTED,
  DEFAULT_SELECT,
  payloadsOfSelect,
  RUN_SELECT,
} from "../../../../../../src/tracing/api/v1/runs/run-schema.ts";

/** The official clients' default selection. */
const CLIENTS_SELECT = [
  "app_path",
  "completion_cost",
  "completion_tokens",
  "dotted_order",
  "end_time",
  "error",
  "events",
  "extra",
  "feedback_stats",
  "first_token_time",
  "id",
  "inputs",
  "name",
  "outputs",
  "parent_run_id",
  "parent_run_ids",
  "prompt_cost",
  "prompt_tokens",
  "reference_example_id",
  "run_type",
  "session_id",
  "start_time",
  "status",
  "tags",
  "total_cost",
  "total_tokens",
  "trace_id",
];

describe("the selectable fields of a run", () => {
  test("have unique names", ({ expect }) => {
    expect(new Set(RUN_SELECT).size).toBe(RUN_SELECT.length);
  });

  test("include, also by default, those that clients select", ({ expect }) => {
    expect(RUN_SELECT).toEqual(expect.arrayContaining(CLIENTS_SELECT));
    expect(DEFAULT_SELECT).toEqual(expect.arrayContaining(CLIENTS_SELECT));
    expect(RUN_SELECT).toEqual(expect.arrayContaining([...ALWAYS_SELECTED]));
  });

  test("need only the payloads that they name, each once", ({ expect }) => {
    expect(payloadsOfSelect(ALWAYS_SELECTED)).toEqual([]);
    expect(payloadsOfSelect(["inputs_preview", "s3_urls", "tags"])).toEqual([]);
    expect(payloadsOfSelect(["inputs", "inputs_s3_urls", "error_or_signed_url"])).toEqual([
      "inputs",
      "error",
    ]);
    expect(payloadsOfSelect(RUN_SELECT).toSorted()).toEqual([
      "error",
      "events",
      "extra",
      "inputs",
      "outputs",
      "serialized",
    ]);
  });
});
