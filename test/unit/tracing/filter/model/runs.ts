import fc from "fast-check";

export type Json = string | number | boolean | { [key: string]: Json } | Json[];
type Leaves = [path: string, text: string][];
type Feedback = {
  key: string;
  score: number | null;
  value: string | number | boolean | null;
  source: string;
  comment: string | null;
  error: boolean;
};
export type Run = {
  id: string;
  trace_id: string;
  parent_run_id: string | null;
  reference_example_id: string | null;
  thread_id: string | null;
  name: string;
  run_type: string;
  status: string;
  /** In microseconds since the epoch. */
  start_time: number;
  end_time: number | null;
  first_token_time: number | null;
  error: string | null;
  total_tokens: number;
  prompt_tokens: number;
  completion_tokens: number;
  /** In picodollars. */
  total_cost: number | null;
  prompt_cost: number | null;
  completion_cost: number | null;
  tags: string[];
  metadata: { [key: string]: Json };
  inputs: Leaves;
  outputs: Leaves;
  feedback: Feedback[];
};

export const uuid = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
export const IDS = [1, 2, 3, 4, 5, 6].map(uuid);
export const TRACES = IDS.slice(0, 3);
const LONG = "a long_name with 100% more of_it than any pattern of fifty bytes can hold: ";
export const TEXTS = [
  "agent",
  "Agent",
  "chat_model",
  "chatXmodel",
  "100%",
  "naïve ÄÖ 漢字",
  "back\\slash",
  'quo"ted',
  "",
  "xyz xyz xyy",
  "12",
  "true",
  `${LONG}${LONG}end`,
  `${LONG}End`,
];
export const PATTERNS = [
  "%agent%",
  "AGENT",
  "chat_model",
  "chat\\_model",
  "%\\%",
  "%\\\\s%",
  "%",
  "_%",
  "",
  "%xyz%xyy",
  "%漢_",
  "x%y%y",
  "100\\",
  LONG,
  `${LONG}%`,
  `${LONG}_____%`,
  `%${LONG}_nd`,
  "%A Long_Name with 100\\% more_of_it than any pattern of fifty bytes ____ hold%end",
  "a%of_it than any pattern of fifty bytes%of_it than any pattern of fifty%: end",
  "a%of_it than any pattern of fifty bytes%of_it than any pattern of fifty%: en",
  "%of fifty bytes__________%of fifty bytes____%e__",
  "_%_%_%_%_%_%_%_%_%_%_%_%_%_%_%_%_%_%_%_%_%_%_%_%_%_%_%_%_%_%_%_%d",
];
export const KEYS = ["env", "user.id", "user", "messages.content", "n"];
export const TAGS = ["beta", "prod", "a_b", "BETA"];
export const ERRORS = ["TimeoutError: agent", "boom 100%", ""];
export const FEEDBACK_KEYS = ["correctness", "user_score"];
/** Times as they may be written, and their values. */
export const TIMES: [text: string, micros: number][] = [
  ["2026-03-01", Date.UTC(2026, 2, 1) * 1000],
  ["2026-03-01T00:00:00.000001Z", Date.UTC(2026, 2, 1) * 1000 + 1],
  ["2026-03-01T02:30:00+02:30", Date.UTC(2026, 2, 1) * 1000],
  ["2026-03-01 00:00:05", Date.UTC(2026, 2, 1, 0, 0, 5) * 1000],
  ["2026-03-01T00:00:06.500000", Date.UTC(2026, 2, 1, 0, 0, 6) * 1000 + 500_000],
];
export const DURATIONS: [written: string | number, micros: number][] = [
  [0, 0],
  [5, 5_000_000],
  ["5s", 5_000_000],
  ["1us", 1],
  ["6500ms", 6_500_000],
  [6.5, 6_500_000],
  ["0.1m", 6_000_000],
  [0.000001, 1],
];
export const COSTS: [usd: number, picodollars: number][] = [
  [0, 0],
  [1.005, 1_005_000_000_000],
  [0.000035, 35_000_000],
  [4.35, 4_350_000_000_000],
  [1e-12, 1],
];
export const SCORES = [0, 1, 0.5, -1];
export const VALUES = ["good", "1", 1, 0.5, true, false, "null"];

export const oneOf = <T>(values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values);
const maybe = <T>(values: readonly T[]): fc.Arbitrary<T | null> =>
  fc.option(oneOf(values), { freq: 2 });
export const some = <T>(value: fc.Arbitrary<T>, maxLength: number): fc.Arbitrary<T[]> =>
  fc.array(value, { maxLength });

const micros = oneOf(TIMES.map(([, time]) => time));
const picodollars = fc.option(oneOf(COSTS.map(([, cost]) => cost)));
const leaf = oneOf<Json>([...TEXTS, 12, true, 1.5]);
export const metadata = fc.dictionary(
  oneOf(["env", "n", "user.id"]),
  fc.oneof(leaf, fc.array(leaf, { maxLength: 2 })),
  { maxKeys: 2 },
);
const leaves = some(fc.tuple(oneOf(KEYS), oneOf(TEXTS)), 3);
const feedback: fc.Arbitrary<Feedback> = fc.record({
  key: oneOf(FEEDBACK_KEYS),
  score: maybe(SCORES),
  value: maybe(VALUES),
  source: oneOf(["api", "model"]),
  comment: maybe(TEXTS),
  error: fc.boolean(),
});

export const runs: fc.Arbitrary<Run[]> = fc
  .array(
    fc.record({
      trace_id: oneOf(TRACES),
      parent_run_id: maybe(IDS),
      reference_example_id: maybe(IDS),
      thread_id: maybe(TEXTS),
      name: oneOf(TEXTS),
      run_type: oneOf(["llm", "chain", "tool"]),
      status: oneOf(["error", "success", "pending"]),
      start_time: micros,
      end_time: fc.option(micros),
      first_token_time: fc.option(micros),
      error: maybe(ERRORS),
      total_tokens: oneOf([0, 1, 12]),
      prompt_tokens: oneOf([0, 1, 12]),
      completion_tokens: oneOf([0, 1, 12]),
      total_cost: picodollars,
      prompt_cost: picodollars,
      completion_cost: picodollars,
      tags: fc.uniqueArray(oneOf(TAGS), { maxLength: 2 }),
      metadata: fc
        .tuple(metadata, fc.option(metadata))
        .map(([flat, user]) => (user === null ? flat : Object.assign(flat, { user }))),
      inputs: leaves,
      outputs: leaves,
      feedback: some(feedback, 2),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((records) => records.map((record, index) => ({ id: uuid(index + 1), ...record })));

export function flatten(value: Json, path: string[] = []): Leaves {
  if (Array.isArray(value)) return value.flatMap((item) => flatten(item, path));
  if (typeof value !== "object") return [[path.join("."), String(value).slice(0, 250)]];
  return Object.entries(value).flatMap(([key, item]) => flatten(item, [...path, key]));
}
