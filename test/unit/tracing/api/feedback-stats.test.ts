import { describe, test } from "vitest";
import { feedbackStats, type ShardFeedback } from "../../../../src/tracing/shard/feedback-stats.ts";
import { mergeFeedbackStats } from "../../../../src/tracing/api/feedback-stats.ts";

let created = 0;

function feedback(columns: Partial<ShardFeedback>): ShardFeedback {
  created += 1;
  return {
    id: `f${created}`,
    runId: "r",
    key: "quality",
    score: null,
    value: null,
    comment: null,
    source: "api",
    error: false,
    extendRetention: false,
    createdAt: created,
    ...columns,
  };
}

/** Returns the merged statistics of the single runs, and those of all rows at once. */
function bothWays(runs: ShardFeedback[][]) {
  return {
    merged: mergeFeedbackStats(runs.map((rows) => JSON.stringify(feedbackStats(rows)))),
    whole: feedbackStats(runs.flat()),
  };
}

describe("mergeFeedbackStats", () => {
  test("returns nothing for no runs", ({ expect }) => {
    expect(mergeFeedbackStats([])).toEqual({});
  });

  test.for([
    ["one score each", [[1], [0], [0.5]]],
    ["several scores", [[1, 2, 4], [7], [3, 3]]],
    ["equal scores", [[2, 2], [2]]],
  ] as const)("agrees with the statistics of all rows: %s", ([, scores], { expect }) => {
    const { merged, whole } = bothWays(
      scores.map((some) => some.map((score) => feedback({ score }))),
    );
    const { avg, stdev, ...exact } = whole["quality"] ?? { avg: null, stdev: null };
    expect(merged["quality"]).toEqual({
      ...exact,
      avg: expect.closeTo(avg ?? NaN, 12),
      stdev: expect.closeTo(stdev ?? NaN, 12),
    });
  });

  test("adds up labels, errors, comments and sources, key by key", ({ expect }) => {
    const { merged, whole } = bothWays([
      [feedback({ value: '"good"', comment: "fine" }), feedback({ key: "other", score: 1 })],
      [feedback({ value: '"bad"', source: "app" }), feedback({ value: '"good"' })],
      [feedback({ error: true, source: "model" })],
    ]);
    expect(merged).toEqual(whole);
    expect(merged["quality"]).toEqual({
      n: 3,
      avg: null,
      min: null,
      max: null,
      stdev: null,
      values: { good: 2, bad: 1 },
      errors: 1,
      comments: ["fine"],
      sources: ["api", "app", "model"],
      contains_thread_feedback: false,
    });
  });

  test("keeps the scores of a run beside another one with labels only", ({ expect }) => {
    const { merged } = bothWays([
      [feedback({ value: '"good"' })],
      [feedback({ score: 1 }), feedback({ score: 2 })],
    ]);
    expect(merged["quality"]).toMatchObject({
      n: 3,
      avg: 1.5,
      min: 1,
      max: 2,
      stdev: Math.SQRT1_2,
    });
  });
});
