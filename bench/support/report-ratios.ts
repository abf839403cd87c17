import type { BenchResult } from "./bench-result.ts";
import { roundTo } from "./statistics.ts";
import { printTable } from "./table.ts";

/** A measured value and its aim: `>= 2`, or words where a figure only explains others, or nothing. */
export type Ratio = readonly [measured: number, aim?: string];

/** Prints each ratio beside its aim, and returns them all, rounded to three digits. */
export function reportRatios(measured: Record<string, Ratio>): BenchResult {
  const ratios: Record<string, number> = {};
  const rows: string[][] = [];
  for (const [name, [value, aim = ""]] of Object.entries(measured)) {
    ratios[name] = roundTo(value, 3);
    rows.push([name, String(ratios[name]), aim]);
  }
  console.log();
  printTable(["ratio", "measured", "aim"], rows);
  console.log();
  return { ratios };
}
