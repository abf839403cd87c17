import type { PlatformProcess } from "../../restart/support/platform-process.ts";
import { residentBytes } from "../../../bench/support/resident-memory.ts";
import { type PartResult, Problems } from "../part.ts";
import { longHistory } from "./history.ts";
import { manyReaders } from "./readers.ts";
import { manyThreads } from "./threads.ts";

/** Checks a thousand readers of one run, a hundred thousand threads, and ten thousand checkpoints of a thread. */
export async function load(platform: PlatformProcess): Promise<PartResult> {
  const problems = new Problems();
  const { workerd } = platform.pids;
  const figures = [
    ...(await manyReaders(platform, problems)),
    ...(await longHistory(platform, problems)),
    ...(await manyThreads(platform, problems)),
  ];
  const megabytes = Math.round(residentBytes(workerd) / 1_000_000);
  figures.push(["workerd's memory at the end", `${megabytes} MB`]);
  return { figures, problems: problems.list() };
}
