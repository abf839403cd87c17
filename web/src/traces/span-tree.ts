import type { RunSummary } from "../api/runs.ts";

/** A run of a trace with its position in the waterfall; `from` and `to` are fractions of the trace's duration. */
export type Span = {
  run: RunSummary;
  depth: number;
  from: number;
  to: number;
  seconds: number | undefined;
};

/** Returns the runs of a trace in the order in which they started, each below its parent. */
export function spansOf(runs: readonly RunSummary[], now = Date.now()): Span[] {
  const ordered = runs.toSorted((left, right) => (left.dotted_order < right.dotted_order ? -1 : 1));
  const starts = ordered.map(({ start_time }) => Date.parse(start_time));
  const ends = ordered.map(({ end_time }) => (end_time === null ? now : Date.parse(end_time)));
  const begin = starts.reduce((least, start) => Math.min(least, start), Infinity);
  const length = Math.max(ends.reduce((most, end) => Math.max(most, end), begin) - begin, 1);
  return ordered.map((run, index) => {
    const start = starts[index] ?? begin;
    const end = ends[index] ?? start;
    return {
      run,
      depth: run.dotted_order.split(".").length - 1,
      from: (start - begin) / length,
      to: (end - begin) / length,
      seconds: run.end_time === null ? undefined : (end - start) / 1000,
    };
  });
}
