import { COMMON_NAME, RARE_CUSTOMER, RARE_NAME, threadOf } from "./sample-trace.ts";

/** One question about the runs of a project. */
export type QueryCase = {
  title: string;
  /** What `/runs/query` is sent besides the project. */
  body: Record<string, unknown>;
  /** Whether an index leads to the runs, so that it should not matter how many others there are. */
  indexed: boolean;
  /** Whether there are as many such runs in a small project as in a large one. */
  rare: boolean;
};

export function queryCases(traces: number): QueryCase[] {
  const pair = (key: string, value: string): string =>
    `and(eq(metadata_key, "${key}"), eq(metadata_value, "${value}"))`;
  return [
    indexed("newest roots", { is_root: true }),
    indexed("failed", { error: true }),
    indexed("common name", { filter: `eq(name, "${COMMON_NAME}")` }),
    indexed("rare name", { filter: `eq(name, "${RARE_NAME}")` }, true),
    indexed("common metadata", { filter: pair("environment", "production") }),
    indexed("metadata of one in 40", { filter: pair("customer", "customer-11") }),
    indexed("rare metadata", { filter: pair("customer", RARE_CUSTOMER) }, true),
    indexed("one thread", { filter: `eq(thread_id, "${threadOf(traces / 2)}")` }, true),
    indexed("roots of one name", { is_root: true, filter: `eq(name, "${RARE_NAME}")` }, true),
    indexed("tag", { filter: 'has(tags, "even")' }),
    other("slower than all but few", { filter: "gt(latency, 3.18)" }),
    other("search for a rare word", { filter: `search("${RARE_NAME}")` }),
  ];
}

function indexed(title: string, body: Record<string, unknown>, rare = false): QueryCase {
  return { title, body, indexed: true, rare };
}

function other(title: string, body: Record<string, unknown>): QueryCase {
  return { title, body, indexed: false, rare: true };
}
