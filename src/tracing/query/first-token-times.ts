import { findRuns } from "./find-runs.ts";
import type { PlacedRun } from "./run-source.ts";
import type { RunPosition } from "../model/run-page.ts";
import type { Micros } from "../model/run-write.ts";

const PAGE = 1000;
/** Runs of a trace may start late, or by another clock than its root's. */
const SLACK = 86_400_000_000;

/** When the first token of each trace came, in whichever of its runs; by trace id. */
export async function firstTokenTimes(
  env: Env,
  query: { workspaceId: string; projectId: string; roots: readonly PlacedRun[] },
): Promise<Map<string, Micros>> {
  const { workspaceId, projectId, roots } = query;
  const times = new Map<string, Micros>();
  if (roots.length === 0) return times;
  const traceIds = roots.map(({ run }) => run.trace_id);
  const starts = roots.map(({ run }) => run.start_time);
  const ends = roots.map(({ run }) => run.end_time ?? Date.now() * 1000);
  let after: RunPosition | null = null;
  do {
    const page = await findRuns(env, {
      workspaceId,
      projectIds: [projectId],
      selection: {
        filter: `and(in(trace_id, ${JSON.stringify(traceIds)}), neq(first_token_time, null))`,
        from: Math.min(...starts) - SLACK,
        to: Math.max(...ends) + SLACK,
      },
      order: "asc",
      after,
      limit: PAGE,
      payloads: [],
    });
    for (const { run } of page.runs) {
      const { trace_id, first_token_time: time } = run;
      if (time !== null) times.set(trace_id, Math.min(time, times.get(trace_id) ?? time));
    }
    after = page.next;
  } while (after !== null);
  return times;
}
