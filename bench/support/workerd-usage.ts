import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Linux reports a process's CPU time in these ticks, whatever the clock of the kernel is. */
const TICKS_PER_SECOND = 100;

/** Returns the process id of the workerd that serves a state directory. */
export function workerdOf(stateDir: string): number {
  const runDir = join(stateDir, "run");
  const file = readdirSync(runDir).find((name) => /^workerd-\d+\.pid$/.test(name));
  if (file === undefined) throw new Error(`No workerd is named in ${runDir}`);
  return Number(readFileSync(join(runDir, file), "utf8"));
}

/** Returns the CPU seconds of a process, in user mode and in the kernel. Works on Linux only. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name of the program is in parentheses and may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}
