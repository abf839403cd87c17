import { describe, test } from "vitest";
import {
  configText,
  type FeedbackConfig,
  type Judgement,
  judgementProblem,
  readConfig,
} from "../../../../src/tracing/feedback/feedback-input.ts";
import { feedbackConfigSchema } from "../../../../src/tracing/api/v1/feedback/schemas.ts";

const continuous: FeedbackConfig = { type: "continuous", min: 0, max: 1 };

const categorical: FeedbackConfig = {
  type: "categorical",
  categories: [{ value: 0, label: "bad" }, { value: 1, label: "good" }, { value: 2 }],
};

const AT_LEAST = { field: "score", message: "Score should be at least 0" };
const AT_MOST = { field: "score", message: "Score should be at most 1" };
const CATEGORY = { field: "score", message: "Score should be one of 0, 1, 2" };
const LABEL = { field: "value", message: 'Value should be one of "bad", "good"' };

describe("judgementProblem", () => {
  test.for<[FeedbackConfig, Judgement, object | null]>([
    [continuous, { score: 0 }, null],
    [continuous, { score: 1 }, null],
    [continuous, { score: -0.01 }, AT_LEAST],
    [continuous, { score: 1.01 }, AT_MOST],
    [continuous, { score: null, value: "anything" }, null],
    [continuous, {}, null],
    [{ type: "continuous", min: null, max: 1 }, { score: -5 }, null],
    [{ type: "continuous" }, { score: 1e9 }, null],
    [categorical, { score: 2 }, null],
    [categorical, { score: 3 }, CATEGORY],
    [categorical, { score: 1, value: "whatever" }, null],
    [categorical, { value: "good" }, null],
    [categorical, { value: "great" }, LABEL],
    [categorical, { value: 2 }, null],
    [categorical, { value: 7 }, LABEL],
    [categorical, { value: true }, null],
    [categorical, { value: { why: "so" } }, null],
    [categorical, { score: null, value: null }, null],
    [{ type: "categorical", categories: [] }, { score: 3 }, null],
    [{ type: "categorical" }, { score: 3 }, null],
    [{ type: "freeform", min: 0, max: 1 }, { score: 3 }, null],
  ])("returns for %j with %j: %j", ([config, judgement, problem], { expect }) => {
    expect(judgementProblem(config, judgement)).toEqual(problem);
  });
});

describe("configText", () => {
  test("is equal for configs that mean the same", ({ expect }) => {
    const short: FeedbackConfig = { type: "categorical", categories: [{ value: 1 }] };
    const long: FeedbackConfig = {
      categories: [{ label: null, value: 1 }],
      max: null,
      min: null,
      type: "categorical",
    };
    expect(configText(short)).toBe(configText(long));
    expect(configText(continuous)).not.toBe(configText({ ...continuous, max: 2 }));
  });

  test("can be parsed again", ({ expect }) => {
    expect(readConfig(configText(continuous))).toEqual({ ...continuous, categories: null });
  });
});

describe("feedbackConfigSchema", () => {
  test.for([
    [{}],
    [{ type: "other" }],
    [{ type: "continuous", min: "0" }],
    [{ type: "continuous", step: 1 }],
    [{ type: "categorical", categories: [{ label: "good" }] }],
    [{ type: "categorical", categories: [{ value: 1, label: "" }] }],
    [{ type: "categorical", categories: [{ value: 1, color: "red" }] }],
  ])("refuses %j", ([config], { expect }) => {
    expect(feedbackConfigSchema.safeParse(config).success).toBe(false);
  });
});
