import fc from "fast-check";
import type { RunValues } from "../../../support/columnar-runs.ts";

export const WORKSPACE = "0b6a7d0e-7f5b-4e43-8f51-3b9f8bc3a001";
export const PROJECT = "0b6a7d0e-7f5b-4e43-8f51-3b9f8bc3a002";

const FIRST_START = Date.parse("2026-03-02T00:00:00Z") * 1000;

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.constantFrom("", "\0", "a\0b", "ünï😀", "\u{10ffff}", "\ufffd", "plain", "x".repeat(300)),
);
const json = fc.json({ maxDepth: 1 });
const picodollars = fc.oneof(
  fc.constantFrom(0, 1, 65_000_000, Number.MAX_SAFE_INTEGER),
  fc.maxSafeNat(),
);
const micros = fc.integer({ min: 0, max: 4_102_444_800_000_000 });

function nullable<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> {
  return fc.option(arbitrary, { nil: null, freq: 3 });
}

const fields = fc.record({
  id: fc.uuid(),
  trace_id: fc.uuid(),
  reference_example_id: nullable(fc.uuid()),
  name: text,
  run_type: fc.constantFrom("llm", "chain"),
  status: fc.constantFrom("success", "error", "pending"),
  trace_tier: fc.constantFrom("shortlived", "longlived"),
  inputs: json,
  outputs: nullable(json),
  error: nullable(text),
  extra: json,
  events: fc.constantFrom("[]", '[{"name":"start"}]'),
  tags: fc.array(text, { maxLength: 4 }).map((tags) => JSON.stringify(tags)),
  feedback_stats: nullable(json),
  end_time: nullable(micros),
  total_tokens: fc.maxSafeNat(),
  prompt_tokens: fc.nat(),
  completion_tokens: fc.constant(0),
  total_cost: nullable(picodollars),
  prompt_cost: nullable(picodollars),
  completion_cost: nullable(picodollars),
  first_token_time: nullable(micros),
  ancestors: fc.array(fc.uuid(), { maxLength: 3 }),
  pause: fc.nat({ max: 3 }),
});

/** Generates runs as the store returns them, in the order of their start. */
export function generatedRuns(size: {
  minLength: number;
  maxLength: number;
}): fc.Arbitrary<RunValues[]> {
  return fc.array(fields, size).map((runs) => {
    let start_time = FIRST_START;
    return runs.map(({ ancestors, pause, ...run }) => {
      start_time += pause;
      return {
        ...run,
        start_time,
        parent_run_id: ancestors.at(-1) ?? null,
        dotted_order: [...ancestors, run.id].map((id) => `20260302T000000000000Z${id}`).join("."),
      };
    });
  });
}
