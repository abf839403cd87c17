import { spawnSync } from "node:child_process";
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { isAlive } from "./running-platform.ts";

/** Ids of processes are used again: with the time of its start one is no other's. */
type Holder = { pid: number; startedAt: string };

/**
 * Makes a file that one living process at a time can have, and returns what gives it back; undefined when another process
 * has it. The file of a process that died is taken over. It is for versions of Node that have no file locks.
 */
export function holdFile(file: string): { close: () => void } | undefined {
  const own = JSON.stringify({ pid: process.pid, startedAt: startOf(process.pid) });
  const candidate = `${file}.${process.pid}`;
  writeFileSync(candidate, own);
  try {
    if (!link(candidate, file) && !(removeDead(file) && link(candidate, file))) return undefined;
  } finally {
    rmSync(candidate, { force: true });
  }
  return { close: () => rmSync(file, { force: true }) };
}

/** A link is made whole or not at all, and only where no file is. */
function link(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** False when somebody living has the file. */
function removeDead(file: string): boolean {
  const before = read(file);
  if (before !== undefined && holds(before)) return false;
  const aside = `${file}.${process.pid}.dead`;
  try {
    renameSync(file, aside);
  } catch {
    // Somebody else has removed it in between.
    return true;
  }
  // What was moved is of one who took it over in between: it is put back.
  if (read(aside) !== before) link(aside, file);
  rmSync(aside, { force: true });
  return true;
}

function holds(text: string): boolean {
  try {
    const { pid, startedAt } = JSON.parse(text) as Holder;
    return isAlive(pid) && (startedAt === "" || startOf(pid) === startedAt);
  } catch {
    return false;
  }
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

/** When a process was started, as the system tells it; empty when it does not, or when the process has ended already. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    // One that was killed stays there until its parent asks how it ended.
    return fields[0] === "Z" ? "" : (fields[19] ?? "");
  } catch {
    const ps = spawnSync("ps", ["-p", String(pid), "-o", "lstart="], { encoding: "utf8" });
    return (ps.stdout ?? "").trim();
  }
}
