import {
  COMMON_NAME,
  RARE_CUSTOMER,
  RARE_NAME,
  RUNS_PER_TRACE,
  traitsOf,
  type TraceTraits,
} from "./sample-trace.ts";

export const SEARCH = "search for a rare word";

/** A query for the runs of a project. */
export type QueryCase = {
  title: string;
  /** The body of `/runs/query` without the project. */
  body: Record<string, unknown>;
  /** Whether an index covers it, so that the number of other runs should not matter. */
  indexed: boolean;
  /** Number of matching runs in the traces that were sent to the API. */
  matching: number;
  /** Whether the copies of those runs match, too; otherwise as many match in a project of any size. */
  copied: boolean;
};

/** Returns the queries for a project of `traces` traces and their copies. */
export function queryCases(traces: number): QueryCase[] {
  const all = Array.from({ length: traces }, (_, index) => traitsOf(index));
  const count = (runsPerTrace: number, holds: (traits: TraceTraits) => boolean): number =>
    all.filter(holds).length * runsPerTrace;
  const pair = (key: string, value: string): string =>
    `and(eq(metadata_key, "${key}"), eq(metadata_value, "${value}"))`;
  const { thread, customer } = traitsOf(Math.floor(traces / 2));
  const rareRoots = count(1, ({ rare }) => rare);
  return [
    {
      title: "newest roots",
      body: { is_root: true },
      indexed: true,
      matching: traces,
      copied: true,
    },
    {
      title: "failed runs",
      body: { error: true },
      indexed: true,
      // Both the model's run and the root run fail.
      matching: count(2, ({ fails }) => fails),
      copied: true,
    },
    {
      title: "common name",
      body: { filter: `eq(name, "${COMMON_NAME}")` },
      indexed: true,
      matching: count(1, ({ rare }) => !rare),
      copied: true,
    },
    {
      title: "rare name",
      body: { filter: `eq(name, "${RARE_NAME}")` },
      indexed: true,
      matching: rareRoots,
      copied: false,
    },
    {
      title: "metadata of most",
      body: { filter: pair("environment", "production") },
      indexed: true,
      matching: count(RUNS_PER_TRACE, ({ environment }) => environment === "production"),
      copied: true,
    },
    {
      title: "metadata of one in 40",
      body: { filter: pair("customer", customer) },
      indexed: true,
      matching: count(RUNS_PER_TRACE, (traits) => traits.customer === customer),
      copied: true,
    },
    {
      title: "rare metadata",
      body: { filter: pair("customer", RARE_CUSTOMER) },
      indexed: true,
      matching: count(RUNS_PER_TRACE, ({ rare }) => rare),
      copied: false,
    },
    {
      title: "one thread",
      body: { filter: `eq(thread_id, "${thread}")` },
      indexed: true,
      matching: count(RUNS_PER_TRACE, (traits) => traits.thread === thread),
      copied: false,
    },
    {
      title: "roots of a rare name",
      body: { is_root: true, filter: `eq(name, "${RARE_NAME}")` },
      indexed: true,
      matching: rareRoots,
      copied: false,
    },
    {
      title: "one thread by any of its keys",
      body: {
        filter: `and(in(metadata_key, ["session_id", "thread_id"]), eq(metadata_value, "${thread}"))`,
      },
      indexed: false,
      matching: count(RUNS_PER_TRACE, (traits) => traits.thread === thread),
      copied: false,
    },
    {
      title: "latency of none",
      body: { filter: 'gt(latency, "10s")' },
      indexed: false,
      matching: 0,
      copied: false,
    },
    {
      title: SEARCH,
      body: { filter: `search("${RARE_NAME}")` },
      indexed: false,
      matching: rareRoots,
      copied: false,
    },
  ];
}
