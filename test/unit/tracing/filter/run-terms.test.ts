import fc from "fast-check";
import { describe, test } from "vitest";
import { parseFilter } from "../../../../src/tracing/filter/filter.ts";
import {
  requiredIds,
  requiredTerms,
  termsOfRun,
} from "../../../../src/tracing/filter/run-terms.ts";
import { evaluate } from "./model/evaluate.ts";
import { expression, print } from "./model/expressions.ts";
import { flatten, type Run, runs } from "./model/runs.ts";

function termsOf({ tags, metadata, ...run }: Run): Set<string> {
  const lists = { tags: JSON.stringify(tags), metadata: JSON.stringify(flatten(metadata)) };
  return new Set(termsOfRun({ ...run, ...lists }));
}

describe("the required terms of a filter", () => {
  test("are in every run for which the filter holds", ({ expect }) => {
    let asked = 0;
    const property = fc.property(runs, fc.array(expression, { maxLength: 12 }), (given, all) => {
      for (const each of all) {
        const filter = parseFilter(print(each));
        const terms = requiredTerms(filter);
        const ids = requiredIds(filter);
        for (const run of given.filter((candidate) => evaluate(each, candidate))) {
          const had = termsOf(run);
          for (const some of terms) {
            expect(
              some.some((term) => had.has(term)),
              print(each),
            ).toBe(true);
            asked += 1;
          }
          if (ids !== null) expect(ids, print(each)).toContain(run.id);
        }
      }
    });
    fc.assert(property, { seed: 20_260_402, numRuns: 1500 });
    // The property would be meaningless if no filter required anything.
    expect(asked).toBeGreaterThan(200);
  });

  test.for<[filter: string, terms: string[][]]>([
    ['eq(name, "agent")', [["name agent"]]],
    ['in(name, ["a", "b"])', [["name a", "name b"]]],
    ['eq(status, "error")', [["failed"]]],
    ['has(tags, "beta")', [["tag beta"]]],
    ['and(eq(metadata_key, "k"), eq(metadata_value, "v"))', [['metadata ["k","v"]']]],
    [
      'and(in(metadata_key, ["k", "l"]), eq(metadata_value, "v"), eq(thread_id, "t"))',
      [['metadata ["k","v"]', 'metadata ["l","v"]'], ["thread_id t"]],
    ],
    [
      'has(metadata, \'{"a":{"b":1},"c":"d"}\')',
      [['metadata ["a.b","1"]'], ['metadata ["c","d"]']],
    ],
    ['or(eq(name, "a"), eq(name, "b"))', []],
    ['not(eq(name, "a"))', []],
    ['neq(name, "a")', []],
    ['eq(metadata_key, "k")', []],
    ["eq(parent_run_id, null)", []],
  ])("are found for %s", ([filter, terms], { expect }) => {
    expect(requiredTerms(parseFilter(filter))).toEqual(terms);
  });
});
