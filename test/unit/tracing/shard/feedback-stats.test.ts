import { describe, test } from "vitest";
import { feedbackStats, type ShardFeedback } from "../../../../src/tracing/shard/feedback-stats.ts";

function row(given: Partial<ShardFeedback>): ShardFeedback {
  return {
    id: "f",
    runId: "r",
    key: "quality",
    score: null,
    value: null,
    comment: null,
    source: "api",
    error: false,
    extendRetention: true,
    createdAt: 0,
    ...given,
  };
}

const NOTHING = {
  n: 0,
  avg: null,
  min: null,
  max: null,
  stdev: null,
  values: {},
  errors: 0,
  comments: [],
  sources: ["api"],
  contains_thread_feedback: false,
};

describe("feedbackStats", () => {
  test("is empty without feedback", ({ expect }) => {
    expect(feedbackStats([])).toEqual({});
  });

  test("describes scores", ({ expect }) => {
    const rows = [2, 4, 4, 4, 5, 5, 7, 9].map((score) => row({ score }));
    expect(feedbackStats(rows)).toEqual({
      quality: { ...NOTHING, n: 8, avg: 5, min: 2, max: 9, stdev: Math.sqrt(32 / 7) },
    });
  });

  test("has no deviation for one score", ({ expect }) => {
    expect(feedbackStats([row({ score: 0 })])).toEqual({
      quality: { ...NOTHING, n: 1, avg: 0, min: 0, max: 0 },
    });
  });

  test("counts labels, and no other values", ({ expect }) => {
    const values = ['"good"', '"bad"', '"good"', "1", "true", '{"a":1}', null];
    expect(feedbackStats(values.map((value) => row({ value })))).toEqual({
      quality: { ...NOTHING, n: 3, values: { good: 2, bad: 1 } },
    });
  });

  test("counts a score with its label once", ({ expect }) => {
    const rows = [row({ score: 1, value: '"good"' }), row({ score: 0, value: '"bad"' })];
    expect(feedbackStats(rows)).toEqual({
      quality: {
        ...NOTHING,
        n: 2,
        avg: 0.5,
        min: 0,
        max: 1,
        stdev: Math.SQRT1_2,
        values: { good: 1, bad: 1 },
      },
    });
  });

  test("accepts names of object members as labels and keys", ({ expect }) => {
    const stats = feedbackStats([row({ key: "__proto__", value: '"constructor"' })]);
    expect(Object.entries(stats)).toEqual([
      ["__proto__", { ...NOTHING, n: 1, values: { constructor: 1 } }],
    ]);
  });

  test("counts feedback without score and label", ({ expect }) => {
    const rows = [row({ comment: "first" }), row({ comment: "" }), row({ comment: "second" })];
    expect(feedbackStats(rows)).toEqual({
      quality: { ...NOTHING, n: 3, comments: ["first", "second"] },
    });
  });

  test("counts errors as errors only", ({ expect }) => {
    const rows = [
      row({ score: 1, source: "model" }),
      row({ score: 9, error: true, comment: "the judge failed" }),
    ];
    expect(feedbackStats(rows)).toEqual({
      quality: {
        ...NOTHING,
        n: 1,
        avg: 1,
        min: 1,
        max: 1,
        errors: 1,
        comments: ["the judge failed"],
        sources: ["model", "api"],
      },
    });
    expect(feedbackStats([row({ error: true })])).toEqual({ quality: { ...NOTHING, errors: 1 } });
  });

  test("separates keys", ({ expect }) => {
    const stats = feedbackStats([
      row({ key: "a", score: 1 }),
      row({ key: "b", score: 2 }),
      row({ key: "a", score: 3 }),
    ]);
    expect(Object.entries(stats).map(([key, { n, avg }]) => [key, n, avg])).toEqual([
      ["a", 2, 2],
      ["b", 1, 2],
    ]);
  });

  test("stays small for any amount of feedback", ({ expect }) => {
    const rows = Array.from({ length: 200 }, (_, index) =>
      row({ value: JSON.stringify(`${index}${"x".repeat(1000)}`), comment: "y".repeat(1000) }),
    );
    const { quality } = feedbackStats(rows);
    expect(quality?.n).toBe(200);
    expect(quality?.comments).toEqual(Array.from({ length: 10 }, () => "y".repeat(500)));
    const labels = Object.keys(quality?.values ?? {});
    expect(labels).toHaveLength(100);
    expect(labels[0]).toBe(`0${"x".repeat(249)}`);
  });
});
