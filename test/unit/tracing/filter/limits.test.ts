import { describe, test } from "vitest";
import {
  compileScopes,
  FilterError,
  matchingTracesSql,
  parseFilter,
  type ScopeTexts,
} from "../../../../src/tracing/filter/filter.ts";
import { joinConditions } from "../../../../src/tracing/filter/condition.ts";
import { refusal } from "./refusal.ts";

const or = (test: string, times: number): string =>
  `or(${Array.from({ length: times }, () => test).join(", ")})`;

const names = (times: number): string => or('eq(name, "x")', times);

function refusedScopes(texts: ScopeTexts): FilterError {
  try {
    compileScopes(texts, "r");
  } catch (error) {
    if (error instanceof FilterError) return error;
  }
  throw new Error("accepted");
}

describe("a filter", () => {
  test("can have 80 values", ({ expect }) => {
    expect(() => parseFilter(names(80))).not.toThrow();
    const { message, position } = refusal(names(81));
    expect(position).toBe(0);
    expect(message).toBe(
      "at character 0: there are 81 values to compare with; at most 80 are allowed in all " +
        "filters of a request (the list of an in counts as one)",
    );
  });

  test("can have 80 values together with others of a request, apart from known traces", ({
    expect,
  }) => {
    const texts = { filter: names(26), traceFilter: names(27), treeFilter: names(27) };
    const known = { trace: ["a"], tree: ["b"] };
    expect(compileScopes(texts, "r", known).params).toHaveLength(82);
    const error = refusedScopes({ ...texts, filter: names(27) });
    expect(error.message).toContain("there are 81 values");
    expect(error.scope).toBeUndefined();
  });

  test("counts a list as one value", ({ expect }) => {
    const list = Array.from({ length: 200 }, (_, n) => `"n${n}"`).join(", ");
    expect(() => parseFilter(or(`in(name, [${list}])`, 30))).not.toThrow();
  });

  test("is also limited in conditions without values", ({ expect }) => {
    expect(refusal(or("eq(metadata_key, null)", 1000)).message).toBe(
      "at character 0: there are too many conditions",
    );
  });
});

describe("an error in one of several texts", () => {
  test.for<[texts: ScopeTexts, scope: string]>([
    [{ filter: "eq(", traceFilter: names(1) }, "filter"],
    [{ filter: names(1), traceFilter: "eq(" }, "trace_filter"],
    [{ filter: names(1), treeFilter: "eq(" }, "tree_filter"],
  ])("names its field: %j", ([texts, scope], { expect }) => {
    const error = refusedScopes(texts);
    expect(error.scope).toBe(scope);
    expect(error.position).toBe(3);
  });
});

describe("compiled SQL", () => {
  test("contains no text of the filter", ({ expect }) => {
    const texts = { filter: `and(eq(name, "it's"), in(tags, ["it's"]), like(error, "it's%"))` };
    const { text, params } = compileScopes({ ...texts, treeFilter: texts.filter }, "r");
    expect(text).not.toContain("it's");
    const own = ["it's", "it's%", '["it\'s"]'];
    expect(new Set(params)).toEqual(new Set(own));
    expect(params).toHaveLength(2 * own.length);
    expect(text.match(/\?/g)).toHaveLength(params.length);
  });

  test("begins a query of another shard with the requested traces", ({ expect }) => {
    const { params } = matchingTracesSql("tree", 'eq(name, "x")', ["t1", "t2"]);
    expect(params).toEqual(['["t1","t2"]', "x"]);
  });

  test("puts shallow conditions before deep ones", ({ expect }) => {
    const leaf = (name: string) => ({ text: name, params: [name], depth: 0 });
    const deep = { text: "deep", params: ["deep"], depth: 9 };
    const all = joinConditions("AND", [deep, leaf("a"), leaf("b"), leaf("c")]);
    expect(all).toEqual({
      text: "((c AND (a AND b)) AND deep)",
      params: ["c", "a", "b", "deep"],
      depth: 10,
    });
  });
});
