import {
  COMMON_NAME,
  RARE_CUSTOMER,
  RARE_NAME,
  RUNS_PER_TRACE,
  traitsOf,
  type TraceTraits,
} from "./sample-trace.ts";

export const SEARCH = "search for a rare word";

/** One question about the runs of a project. */
export type QueryCase = {
  title: string;
  /** What `/runs/query` is sent besides the project. */
  body: Record<string, unknown>;
  /** Whether there is an index for it, so that it should not matter how many other runs there are. */
  indexed: boolean;
  /** Runs of the traces that came in by the API which match. */
  matching: number;
  /** Whether the copies of those match too; otherwise they are as many in a project of any size. */
  copied: boolean;
};

/** Questions about a project of so many traces and their copies. */
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
      // The model's and the root's.
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
