import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Linux counts a process's time in these, whatever the clock of the kernel is. */
const TICKS_PER_SECOND = 100;

/** The process id of the workerd that serves a state directory. */
export function workerdOf(stateDir: string): number {
  const runDir = join(stateDir, "run");
  const file = readdirSync(runDir).find((name) => /^workerd-\d+\.pid$/.test(name));
  if (file === undefined) throw new Error(`No workerd is named in ${runDir}`);
  return Number(readFileSync(join(runDir, file), "utf8"));
}

/** The seconds of CPU that a process has used, as user and as system. Linux only. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name of the program, in parentheses, may have spaces.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}
