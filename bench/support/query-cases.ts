import {
  COMMON_NAME,
  RARE_CUSTOMER,
  RARE_NAME,
  rareTraces,
  RUNS_PER_TRACE,
  RUNS_PER_THREAD,
  threadOf,
} from "./sample-trace.ts";

export const PAGE_LIMIT = 100;

/** One question about the runs of a project. */
export type QueryCase = {
  title: string;
  /** What `/runs/query` is sent besides the project. */
  body: Record<string, unknown>;
  /** Whether there is an index for it, so that it should not matter how many other runs there are. */
  indexed: boolean;
  /** Runs on the first page, in a project of any size. */
  found: number;
};

/** Questions about a project that was made of so many traces. */
export function queryCases(traces: number): QueryCase[] {
  const pair = (key: string, value: string): string =>
    `and(eq(metadata_key, "${key}"), eq(metadata_value, "${value}"))`;
  const rareRoots = rareTraces(traces);
  return [
    indexed("newest roots", { is_root: true }),
    indexed("failed runs", { error: true }, FAILING_RUNS(traces)),
    indexed("common name", { filter: `eq(name, "${COMMON_NAME}")` }),
    indexed("rare name", { filter: `eq(name, "${RARE_NAME}")` }, rareRoots),
    indexed("common metadata", { filter: pair("environment", "production") }),
    indexed("rare metadata", { filter: pair("customer", RARE_CUSTOMER) }, rareRoots * 3),
    indexed("one thread", { filter: `eq(thread_id, "${threadOf(traces / 2)}")` }, 15),
  ];
}
