import { measureRestart } from "./growth/restart.ts";
import { measureHistory } from "./growth/history.ts";
import { measureThreadSearch } from "./growth/thread-search.ts";
import type { BenchResult } from "./support/bench-result.ts";
import { inScratch } from "./support/scratch.ts";
import { printTable } from "./support/table.ts";

const TIME_LIMIT_MS = 15 * 60_000;

/** What becomes slower as more is stored, and what a start over what is stored takes. */
export async function run(): Promise<BenchResult> {
  return inScratch("growth", TIME_LIMIT_MS, async (scratch) => {
    const ratios = {
      ...(await measureHistory(scratch)),
      ...(await measureThreadSearch(scratch)),
      ...(await measureRestart(scratch)),
    };
    console.log();
    printTable(
      ["measure", "measured", "aim"],
      [
        ["history_10k_vs_100", String(ratios.history_10k_vs_100), "<= 2"],
        ["create_beside_search_vs_alone", String(ratios.create_beside_search_vs_alone), "<= 3"],
        ["restart_ms", String(ratios.restart_ms), "<= 3000"],
      ],
    );
    console.log();
    return { ratios };
  });
}
