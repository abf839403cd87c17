import type { BenchResult } from "./bench-result.ts";
import { type Ratio, reportRatios } from "./report-ratios.ts";
import { median, p95, quantile } from "./statistics.ts";
import { printTable } from "./table.ts";

/** Samples of one quantity, keyed by the name of the side. */
export type Samples = Map<string, number[]>;

export type Measured = {
  wait: Samples;
  throughput: Samples;
  streamThroughput: Samples;
  firstEvent: Samples;
  firstChunk: Samples;
  chunkDelay: Samples;
  queueRun: Samples;
};

/** The columns of the table. Bounds come after the systems that they are bounds of. */
const COLUMNS = ["platform", "peer", "promises", "least", "bare"] as const;

/** The least Worker keeps no promise of the platform: its ratios are what the platform's own could be at most. */
const BOUND = "what any server of this design could reach";

/** The promises' Worker keeps those of these operations, and does nothing else. */
const KEPT = "what one that keeps the platform's promises could reach";

/** Prints the comparison, and returns its ratios. */
export function report(measured: Measured, queuedRuns: number): BenchResult {
  const medianOf = (samples: Samples, side: string): number => median(samples.get(side) ?? []);
  const row = (title: string, samples: Samples): string[] => [
    title,
    ...COLUMNS.flatMap((side) => {
      const values = samples.get(side);
      return values === undefined
        ? ["-", "-"]
        : [median(values).toFixed(2), p95(values).toFixed(2)];
    }),
  ];
  console.log();
  printTable(
    ["", ...COLUMNS.flatMap((side) => [side, "p95"])],
    [
      row("create thread and wait, 1 at a time (ms)", measured.wait),
      row("create thread and wait, 32 at a time (runs/s)", measured.throughput),
      row("create thread and stream, 32 at a time (runs/s)", measured.streamThroughput),
      row("first event of a stream (ms)", measured.firstEvent),
      row("first chunk of the answer (ms)", measured.firstChunk),
      row("chunk from graph to reader (ms)", measured.chunkDelay),
      row(`${queuedRuns} runs queued on one thread, in order (ms per run)`, measured.queueRun),
    ],
  );
  printSpread("first event of a stream (ms)", measured.firstEvent);

  const { wait, throughput, streamThroughput, firstEvent, firstChunk, chunkDelay, queueRun } =
    measured;
  const over = (samples: Samples, side: string, base: string): number =>
    medianOf(samples, side) / medianOf(samples, base);
  const added = (side: string): string =>
    (medianOf(chunkDelay, side) - medianOf(chunkDelay, "bare")).toFixed(2);
  console.log();
  printTable(
    ["also", "measured"],
    [
      ["delay added to a streamed chunk, platform (ms)", added("platform")],
      ["delay added to a streamed chunk, peer (ms)", added("peer")],
    ],
  );
  const boundRatios = (side: string, aim: string): Record<string, Ratio> => ({
    [`throughput_c32_vs_${side}`]: [over(throughput, "platform", side)],
    [`stream_c32_vs_${side}`]: [over(streamThroughput, "platform", side)],
    [`${side}_wait_c1_speedup_vs_peer`]: [over(wait, "peer", side), aim],
    [`${side}_throughput_c32_vs_peer`]: [over(throughput, side, "peer"), aim],
    [`${side}_throughput_c32_vs_bare`]: [over(throughput, side, "bare"), aim],
    [`${side}_stream_c32_vs_peer`]: [over(streamThroughput, side, "peer"), aim],
    [`${side}_first_event_speedup_vs_peer`]: [over(firstEvent, "peer", side), aim],
  });
  return reportRatios({
    wait_c1_speedup_vs_peer: [over(wait, "peer", "platform"), ">= 25"],
    throughput_c32_vs_peer: [over(throughput, "platform", "peer"), ">= 1.5"],
    throughput_c32_vs_bare: [over(throughput, "platform", "bare"), ">= 0.15"],
    stream_c32_vs_peer: [over(streamThroughput, "platform", "peer"), ">= 2"],
    stream_c32_vs_bare: [over(streamThroughput, "platform", "bare")],
    first_event_speedup_vs_peer: [over(firstEvent, "peer", "platform"), ">= 12"],
    first_chunk_speedup_vs_peer: [over(firstChunk, "peer", "platform")],
    queue_100_time_vs_bare: [over(queueRun, "platform", "bare")],
    ...boundRatios("promises", KEPT),
    ...boundRatios("least", BOUND),
    nothing_first_event_speedup_vs_peer: [
      over(firstEvent, "peer", "nothing"),
      "what the client, HTTP and workerd alone could reach",
    ],
  });
}

const QUANTILES = [0, 0.25, 0.5, 0.75, 0.95, 1];

/**
 * Prints how steady each side's figure is: its quantiles, and the medians of the four quarters of the rounds. A ratio of
 * two medians is no steadier than these.
 */
function printSpread(title: string, samples: Samples): void {
  console.log();
  printTable(
    [title, "least", "p25", "median", "p75", "p95", "most", "medians of the quarters"],
    [...samples].map(([side, values]) => {
      const quarters = quartersOf(values).map((quarter) => median(quarter).toFixed(1));
      const quantiles = QUANTILES.map((q) => quantile(values, q).toFixed(1));
      return [side].concat(quantiles, quarters.join(" "));
    }),
  );
}

function quartersOf(values: readonly number[]): number[][] {
  return [0, 1, 2, 3].map((quarter) =>
    values.slice((quarter * values.length) / 4, ((quarter + 1) * values.length) / 4),
  );
}
