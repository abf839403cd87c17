import { describe, test } from "vitest";
import { completionsAt, type KnownValues } from "../../../web/src/traces/filter/completions.ts";
import { FIELDS, FUNCTIONS } from "../../../web/src/traces/filter/fields.ts";
import { parseFilter } from "../../../src/tracing/filter/filter.ts";

const KNOWN: KnownValues = {
  fields: { name: ["agent", 'a "quoted" one'], tags: ["prod"], metadata_key: ["env", "team"] },
  metadata: { env: ["eu", "us"], team: ["red"] },
};

/** Returns the completions at the caret, which is marked by `|`. */
function offered(marked: string): string[] {
  const caret = marked.indexOf("|");
  const { options } = completionsAt(marked.replace("|", ""), caret, KNOWN);
  return options.map(({ label }) => label);
}

/** Returns the text after a completion was accepted, by default the first one. */
function taken(marked: string, label?: string): string {
  const caret = marked.indexOf("|");
  const text = marked.replace("|", "");
  const { from, to, options } = completionsAt(text, caret, KNOWN);
  const option = label === undefined ? options[0] : options.find((each) => each.label === label);
  return option === undefined ? text : text.slice(0, from) + option.insert + text.slice(to);
}

describe("completions of a filter", () => {
  test.for<[string, string[]]>([
    ["not|", ["notlike"]],
    ["and(eq(status, |", ["success", "error", "pending", "interrupted"]],
    [
      'eq(status, "e|',
      ["success", "error", "pending", "interrupted"].filter((s) => s.includes("e")),
    ],
    ["exists(|", ["metadata"]],
    ["has(|", ["tags", "metadata"]],
    ["has(tags, |", ["prod"]],
    ["eq(name, |", ["agent", 'a \\"quoted\\" one']],
    ['and(eq(metadata_key, "env"), eq(metadata_value, |', ["eu", "us"]],
    ["eq(error, |", ["null"]],
    ["gt(latency, |", ["500ms", "1s", "5s", "30s", "2m"]],
    ['eq(status, "error")|', []],
    ["eq(id, |", []],
    ["nonsense(|", []],
  ])("are offered: %s", ([marked, expected], { expect }) => {
    const labels = offered(marked);
    if (marked === "not|") expect(labels).toContain("notlike");
    else expect(labels).toEqual(expected);
  });

  test("keep the text around the caret, and close what they begin", ({ expect }) => {
    expect(taken("an|")).toBe("and(");
    expect(taken("and(e|", "eq")).toBe("and(eq(");
    expect(taken("eq(sta|", "status")).toBe("eq(status, ");
    expect(taken('eq(status, "err|', "error")).toBe('eq(status, "error")');
    expect(taken('and(eq(status, "err|"), gt(latency, 1))', "error")).toBe(
      'and(eq(status, "error")), gt(latency, 1))',
    );
    expect(taken("in(run_type, [|", "llm")).toBe('in(run_type, ["llm"');
  });

  test("contain only what the language has", ({ expect }) => {
    for (const [field, { functions, values = [] }] of Object.entries(FIELDS)) {
      for (const name of functions) {
        expect(Object.keys(FUNCTIONS)).toContain(name);
        for (const value of values) {
          const isPattern = ["like", "notlike", "search"].includes(name);
          if (value === "null" && !["eq", "neq"].includes(name)) continue;
          if (isPattern && !value.startsWith('"')) continue;
          const text = name === "in" ? `in(${field}, [${value}])` : `${name}(${field}, ${value})`;
          expect(() => parseFilter(text), text).not.toThrow();
        }
      }
    }
  });
});
