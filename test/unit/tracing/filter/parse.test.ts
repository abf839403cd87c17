import { describe, test } from "vitest";
import { type Filter, parseFilter } from "../../../../src/tracing/filter/filter.ts";
import type { FieldName } from "../../../../src/tracing/filter/fields.ts";
import type { Test } from "../../../../src/tracing/filter/filter-tree.ts";
import { refusal } from "./refusal.ts";

const predicate = (field: FieldName, test: Test): Filter => ({ kind: "predicate", field, test });

describe("a filter's tree", () => {
  test("keeps the structure of and, or and not", ({ expect }) => {
    expect(parseFilter('and(or(eq(name, "a")), not(eq(name, "b")))')).toEqual({
      kind: "and",
      operands: [
        { kind: "or", operands: [predicate("name", { op: "eq", value: "a" })] },
        { kind: "not", operand: predicate("name", { op: "eq", value: "b" }) },
      ],
    });
  });

  const DAY = 1_772_323_200_000_000;
  const ID = "0198c0de-0000-7000-8000-00000000000a";

  test.for<[text: string, field: FieldName, test: Test]>([
    ["eq(error, null)", "error", { op: "eq", value: null }],
    ['gt(start_time, "2026-03-01")', "start_time", { op: "gt", value: DAY }],
    ['lte(end_time, "2026-03-01T00:00:00.000001")', "end_time", { op: "lte", value: DAY + 1 }],
    ['gte(start_time, "2026-03-01T01:00:00+01:00")', "start_time", { op: "gte", value: DAY }],
    ["gt(latency, 0.000001)", "latency", { op: "gt", value: 1 }],
    ["gt(latency, 10)", "latency", { op: "gt", value: 10_000_000 }],
    ['gt(latency, "5s")', "latency", { op: "gt", value: 5_000_000 }],
    ['gt(latency, "1500ms")', "latency", { op: "gt", value: 1_500_000 }],
    ['gt(latency, "2m")', "latency", { op: "gt", value: 120_000_000 }],
    ["eq(total_cost, 1.005)", "total_cost", { op: "eq", value: 1_005_000_000_000 }],
    ["eq(prompt_cost, 3.5e-5)", "prompt_cost", { op: "eq", value: 35_000_000 }],
    ["in(total_tokens, [1, 2])", "total_tokens", { op: "in", values: [1, 2] }],
    [`eq(id, "${ID.toUpperCase()}")`, "id", { op: "eq", value: ID }],
    [`eq(id, "${ID.replaceAll("-", "")}")`, "id", { op: "eq", value: ID }],
    ["eq(is_root, true)", "parent_run_id", { op: "eq", value: null }],
    ["eq(is_root, false)", "parent_run_id", { op: "neq", value: null }],
    ["neq(is_root, false)", "parent_run_id", { op: "eq", value: null }],
    ["eq(execution_order, 1)", "parent_run_id", { op: "eq", value: null }],
    ["neq(execution_order, 1)", "parent_run_id", { op: "neq", value: null }],
    ['has(tags, "beta")', "tags", { op: "eq", value: "beta" }],
    ['has("tags", "beta")', "tags", { op: "eq", value: "beta" }],
    ['search(name, "A b")', "name", { op: "contains", text: "A b" }],
    ["eq(metadata_value, 5)", "metadata_value", { op: "eq", value: "5" }],
    ["eq(feedback_value, true)", "feedback_value", { op: "eq", value: "true" }],
    ["eq(feedback_error, true)", "feedback_error", { op: "eq", value: 1 }],
    [
      `in(input_value, ["${"x".repeat(251)}"])`,
      "input_value",
      { op: "in", values: ["x".repeat(250)] },
    ],
  ])("converts a value to the unit of the column: %s", ([text, field, test], { expect }) => {
    expect(parseFilter(text)).toEqual(predicate(field, test));
  });

  test("has the distinct words of a search in lower case", ({ expect }) => {
    expect(parseFilter('search("The naïve, a 42 the chat_model!")')).toEqual({
      kind: "words",
      words: ["the", "naïve", "42", "chat_model"],
    });
  });

  test("has the pairs of the object in has(metadata, ...)", ({ expect }) => {
    expect(
      parseFilter(`has(metadata, '{"env": "prod", "user": {"id": 7, "ok": [true, "x"]}}')`),
    ).toEqual({
      kind: "metadata",
      leaves: [
        ["env", "prod"],
        ["user.id", "7"],
        ["user.ok", "true"],
        ["user.ok", "x"],
      ],
    });
    expect(parseFilter("has(metadata, '{}')")).toEqual({ kind: "metadata", leaves: [] });
  });

  test("has the key of exists(metadata, ...)", ({ expect }) => {
    expect(parseFilter('exists(metadata, "env")')).toEqual({ kind: "metadata key", key: "env" });
  });
});

describe("a wrong name or type", () => {
  const functions =
    "and, or, not, eq, neq, gt, gte, lt, lte, in, like, notlike, has, exists, search";
  const status = '"pending", "success", "error", "interrupted"';
  const time = 'an ISO 8601 time in quotes such as "2026-01-31T12:00:00Z", from 1970 to 2255';
  const object =
    "has(metadata, ...) takes the text of a JSON object with at most 100 values in it, none of " +
    "them null and no object or list empty";

  test.for<[text: string, position: number, problem: string | RegExp]>([
    ['neqq(name, "x")', 0, `unknown function neqq, did you mean neq? (functions: ${functions})`],
    ['contains(name, "x")', 0, `unknown function contains (functions: ${functions})`],
    ['EQ(name, "x")', 0, `unknown function EQ, did you mean eq? (functions: ${functions})`],
    ["and()", 4, "and needs at least one condition"],
    ["and(true)", 4, 'expected a condition such as eq(name, "x") but found true'],
    ["eq(name)", 7, "eq takes 2 arguments (a field, a value), not 1"],
    ['eq(name, "a", "b")', 14, "eq takes 2 arguments (a field, a value), not 3"],
    ["not()", 4, "not takes 1 argument (a condition), not 0"],
    ['eq(5, "a")', 3, "expected a field such as name but found 5"],
    ['gt(name, "a")', 3, "gt cannot be used with name, only eq, neq, in, like, notlike, search"],
    ['eq(metadata, "a")', 3, "eq cannot be used with metadata, only has, exists, search"],
    ["eq(name, 5)", 9, "name is compared with a text in quotes, not with 5"],
    [
      "eq(name, agent)",
      9,
      "name is compared with a text in quotes, not with the name agent; a text has to be in quotes",
    ],
    [
      'eq(name, ["a"])',
      9,
      "name is compared with a text in quotes, not with a list; for several values use in",
    ],
    ['gt(total_tokens, "5")', 17, 'total_tokens is compared with a number, not with "5"'],
    ["gt(latency, null)", 12, /^latency is compared with a number of seconds.* not with null$/],
    ["gt(total_cost, 1e999)", 15, 'the number "1e999" is too large'],
    [
      'eq(status, "eror")',
      11,
      `status is compared with one of ${status}, not with "eror", did you mean error?`,
    ],
    ['eq(run_type, "llmm")', 13, /, not with "llmm", did you mean llm\?$/],
    [
      'gt(start_time, "2026-02-30")',
      15,
      `start_time is compared with ${time}, not with "2026-02-30"`,
    ],
    ["gt(start_time, 1772323200)", 15, `start_time is compared with ${time}, not with 1772323200`],
    ['eq(trace_id, "abc")', 13, 'trace_id is compared with a UUID in quotes, not with "abc"'],
    ['eq(is_root, "true")', 12, 'is_root is compared with true or false, not with "true"'],
    [
      "eq(execution_order, 2)",
      20,
      "execution_order is compared with 1 only, which means the root run of a trace",
    ],
    ['in(name, "a")', 9, 'in takes a list such as ["a", "b"], not "a"'],
    ['in(error, ["a", null])', 16, "null cannot be in a list; use or(eq(error, null), ...)"],
    ["like(name, 5)", 11, "like takes a pattern in quotes, not 5"],
    ["search(name)", 7, "search takes a text in quotes, not the name name"],
    ['search(name, "")', 13, "search needs a text that is not empty"],
    [
      'search("a, b!")',
      7,
      'search needs a word of two or more letters, digits or underscores; "a, b!" has none',
    ],
    ["has(metadata, '[1]')", 14, `${object}, not "[1]"`],
    [`has(metadata, '{"a": null}')`, 14, `${object}, not "{\\"a\\": null}"`],
    [`has(metadata, '{"a": {}}')`, 14, `${object}, not "{\\"a\\": {}}"`],
    ["has(metadata, '{a}')", 14, `${object}, not "{a}"`],
    [
      'exists(tags, "a")',
      7,
      "exists cannot be used with tags, only has, eq, neq, in, like, notlike, search",
    ],
  ])("is refused: %s", ([text, position, problem], { expect }) => {
    const { message, position: at } = refusal(text);
    expect(at).toBe(position);
    expect(message.replace(`at character ${position}: `, "")).toEqual(
      typeof problem === "string" ? problem : expect.stringMatching(problem),
    );
  });

  test("names all fields, and the nearest one", ({ expect }) => {
    const { message, position } = refusal('and(eq(is_root, true), eq(metadata_kye, "x"))');
    expect(position).toBe(26);
    expect(message).toBe(
      "at character 26: unknown field metadata_kye, did you mean metadata_key? (fields: id, " +
        "trace_id, parent_run_id, reference_example_id, thread_id, name, run_type, status, " +
        "start_time, end_time, first_token_time, latency, error, is_root, execution_order, " +
        "total_tokens, prompt_tokens, completion_tokens, total_cost, prompt_cost, " +
        "completion_cost, tags, inputs, outputs, metadata, metadata_key, metadata_value, " +
        "input_key, input_value, output_key, output_value, feedback_key, feedback_score, " +
        "feedback_value, feedback_source, feedback_comment, feedback_error)",
    );
  });

  test("is refused for metadata that is nested too deeply for recursion", ({ expect }) => {
    const text = `has(metadata, '${'{"a":'.repeat(7_000)}{}${"}".repeat(7_000)}')`;
    expect(refusal(text).position).toBe(14);
  });

  test("is refused for a search with more than 32 words", ({ expect }) => {
    const words = Array.from({ length: 33 }, (_, n) => `w${n}`);
    expect(() => parseFilter(`search("${words.slice(1).join(" ")}")`)).not.toThrow();
    expect(refusal(`search("${words.join(" ")}")`).message).toBe(
      "at character 7: search takes at most 32 words, not 33",
    );
  });
});
