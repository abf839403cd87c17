import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

const SAMPLE_EVERY_MS = 50;

export type MemoryGrowth = {
  /** Resident bytes right before the work. */
  before: number;
  /** Maximum of resident bytes during the work. */
  peak: number;
};

/** Samples the memory of a process during the work. */
export async function watchMemory(pid: number, work: () => Promise<void>): Promise<MemoryGrowth> {
  const before = residentBytes(pid);
  let peak = before;
  const sample = (): void => {
    peak = Math.max(peak, residentBytes(pid));
  };
  const timer = setInterval(sample, SAMPLE_EVERY_MS);
  try {
    await work();
    sample();
  } finally {
    clearInterval(timer);
  }
  return { before, peak };
}

/** Returns the resident bytes of a process. */
export function residentBytes(pid: number): number {
  const status = `/proc/${pid}/status`;
  const kilobytes = existsSync(status)
    ? /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(status, "utf8"))?.[1]
    : execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" }).trim();
  if (kilobytes === undefined) throw new Error(`process ${pid} has no memory`);
  return Number(kilobytes) * 1024;
}
