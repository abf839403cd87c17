import { describe, test } from "vitest";
import { type AmountColumns, NO_AMOUNTS } from "../../../../src/tracing/model/run-row.ts";
import { sameAmounts, sumAmounts, totalsOf } from "../../../../src/tracing/shard/amounts.ts";

function amounts(columns: Partial<AmountColumns>): AmountColumns {
  return { ...NO_AMOUNTS, ...columns };
}

describe("a sum of amounts", () => {
  test("has no costs if no run has any", ({ expect }) => {
    expect(sumAmounts([])).toEqual(NO_AMOUNTS);
    expect(sumAmounts([NO_AMOUNTS, NO_AMOUNTS])).toEqual(NO_AMOUNTS);
    expect(sumAmounts([amounts({ total_cost: 0 }), NO_AMOUNTS])).toEqual(
      amounts({ total_cost: 0 }),
    );
  });

  test("adds categories by name", ({ expect }) => {
    const sum = sumAmounts([
      amounts({ prompt_tokens: 3, prompt_token_details: '{"audio":1,"__proto__":2}' }),
      amounts({ prompt_tokens: 4, prompt_token_details: '{"cache":5,"__proto__":1}' }),
      amounts({ completion_cost_details: '{"reasoning":7}' }),
    ]);
    expect(sum.prompt_tokens).toBe(7);
    expect(sum.prompt_token_details).toBe('{"audio":1,"__proto__":3,"cache":5}');
    expect(sum.completion_cost_details).toBe('{"reasoning":7}');
  });

  test("stops at the largest exact number", ({ expect }) => {
    const most = Number.MAX_SAFE_INTEGER;
    const huge = amounts({
      total_tokens: most,
      total_cost: most,
      prompt_cost_details: `{"a":${most}}`,
    });
    expect(sumAmounts([huge, huge, amounts({ total_cost: 1 })])).toEqual(huge);
  });

  test("differs in each of its members", ({ expect }) => {
    expect(sameAmounts(amounts({}), NO_AMOUNTS)).toBe(true);
    for (const [column, value] of Object.entries({
      prompt_tokens: 1,
      total_cost: 0,
      completion_token_details: "{}",
    })) {
      expect([column, sameAmounts(NO_AMOUNTS, amounts({ [column]: value }))]).toEqual([
        column,
        false,
      ]);
    }
  });
});

describe("the totals of a run", () => {
  const own = amounts({ total_tokens: 5, total_cost: 50 });
  const children = [amounts({ total_tokens: 1 }), amounts({ total_cost: 7 })];
  const stored = (run_type: string, amounts: AmountColumns | null) => ({
    run_type,
    own_amounts: JSON.stringify({ usage: { explicit: true }, amounts }),
  });

  test.for<
    [what: string, run: Parameters<typeof totalsOf>[0], tokens: number, cost: number | null]
  >([
    ["that reports nothing", { run_type: "chain", own_amounts: null }, 1, 7],
    ["that is a model and reports nothing", { run_type: "llm", own_amounts: null }, 1, 7],
    ["that is a model", stored("llm", own), 5, 50],
    ["that is a tool", stored("tool", own), 6, 57],
    ["whose report does not count", stored("chain", null), 1, 7],
  ])("are computed for one %s", ([, run, total_tokens, total_cost], { expect }) => {
    expect(totalsOf(run, children)).toMatchObject({ total_tokens, total_cost });
  });
});
