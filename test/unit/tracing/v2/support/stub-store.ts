import { vi } from "vitest";
import type { RunsFound, RunsQuery } from "../../../../../src/tracing/query/find-runs.ts";
import type { PlacedRun } from "../../../../../src/tracing/query/run-source.ts";

type FindRuns = (env: unknown, query: RunsQuery) => Promise<RunsFound>;

/** In the place of the shards: these runs in this order, whatever is selected but ids. */
export function stubFindRuns(runs: readonly PlacedRun[]) {
  return vi.fn<FindRuns>((_env, { after, limit, selection }) => {
    const { ids } = selection;
    const selected = runs.filter(({ run }) => ids === undefined || ids.includes(run.id));
    const start = after === null ? 0 : selected.findIndex(({ run }) => run.id === after.id) + 1;
    const page = selected.slice(start, start + limit);
    const last = page.at(-1)?.run;
    const isMore = start + page.length < selected.length;
    const next = last === undefined || !isMore ? null : { startTime: last.start_time, id: last.id };
    return Promise.resolve({ runs: page, next });
  });
}
