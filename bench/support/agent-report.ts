import type { BenchResult } from "./bench-result.ts";
import { reportRatios } from "./report-ratios.ts";
import { median, p95 } from "./statistics.ts";
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

/** The least Worker keeps no promise of the platform: its ratios are what the platform's own could be at most. */
const BOUND = "what any server of this design could reach";

/** Prints the comparison, and returns its ratios. */
export function report(measured: Measured, queuedRuns: number): BenchResult {
  const medianOf = (samples: Samples, side: string): number => median(samples.get(side) ?? []);
  const row = (title: string, samples: Samples): string[] => [
    title,
    ...["platform", "peer", "least", "bare"].flatMap((side) => {
      const values = samples.get(side) ?? [];
      if (values.length === 0) return ["-", "-"];
      return [median(values).toFixed(2), p95(values).toFixed(2)];
    }),
  ];
  console.log();
  printTable(
    ["", "platform", "p95", "peer", "p95", "least", "p95", "bare", "p95"],
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
  return reportRatios({
    wait_c1_speedup_vs_peer: [over(wait, "peer", "platform"), ">= 25"],
    throughput_c32_vs_peer: [over(throughput, "platform", "peer"), ">= 1.5"],
    throughput_c32_vs_bare: [over(throughput, "platform", "bare"), ">= 0.15"],
    stream_c32_vs_peer: [over(streamThroughput, "platform", "peer"), ">= 2"],
    stream_c32_vs_bare: [over(streamThroughput, "platform", "bare")],
    first_event_speedup_vs_peer: [over(firstEvent, "peer", "platform"), ">= 12"],
    first_chunk_speedup_vs_peer: [over(firstChunk, "peer", "platform")],
    queue_100_time_vs_bare: [over(queueRun, "platform", "bare")],
    throughput_c32_vs_least: [over(throughput, "platform", "least")],
    stream_c32_vs_least: [over(streamThroughput, "platform", "least")],
    least_wait_c1_speedup_vs_peer: [over(wait, "peer", "least"), BOUND],
    least_throughput_c32_vs_peer: [over(throughput, "least", "peer"), BOUND],
    least_throughput_c32_vs_bare: [over(throughput, "least", "bare"), BOUND],
    least_stream_c32_vs_peer: [over(streamThroughput, "least", "peer"), BOUND],
    least_first_event_speedup_vs_peer: [over(firstEvent, "peer", "least"), BOUND],
  });
}
