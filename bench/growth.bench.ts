import { measureRestart } from "./growth/restart.ts";
import { measureHistory } from "./growth/history.ts";
import { measureThreadSearch } from "./growth/thread-search.ts";
import type { BenchResult } from "./support/bench-result.ts";
import { reportRatios } from "./support/report-ratios.ts";
import { inScratch } from "./support/scratch.ts";

const TIME_LIMIT_MS = 15 * 60_000;

/** Measures what becomes slower as more data is stored, and how long a start on existing data takes. */
export async function run(): Promise<BenchResult> {
  return inScratch("growth", TIME_LIMIT_MS, async (scratch) => {
    const { history_10k_vs_100 } = await measureHistory(scratch);
    const { create_beside_search_vs_alone } = await measureThreadSearch(scratch);
    const { restart_ms } = await measureRestart(scratch);
    return reportRatios({
      history_10k_vs_100: [history_10k_vs_100, "<= 2"],
      create_beside_search_vs_alone: [create_beside_search_vs_alone, "<= 3"],
      restart_ms: [restart_ms, "<= 3000"],
    });
  });
}
