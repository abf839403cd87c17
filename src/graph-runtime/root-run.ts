/** The root of a run's trace, which has the run's own id. */
export type RootRun = {
  id: string;
  trace_id: string;
  dotted_order: string;
  /** ISO 8601 with microseconds. */
  start_time: string;
};

/**
 * The same for every attempt of a run, so that all of them are one trace: `startedAt` (epoch
 * milliseconds) is that of the first. LangChain's tracers, which know milliseconds only, count the runs
 * of a trace in the three digits that are left; the root is the first.
 */
export function rootRun(runId: string, startedAt: number): RootRun {
  const start_time = new Date(startedAt).toISOString().replace("Z", "001Z");
  const dotted_order = `${start_time.replaceAll(/[-:.]/g, "")}${runId}`;
  return { id: runId, trace_id: runId, dotted_order, start_time };
}
