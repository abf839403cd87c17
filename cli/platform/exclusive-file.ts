import { spawnSync } from "node:child_process";
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { isAlive } from "./running-platform.ts";

/** The process that holds a file. Process ids are reused; together with the start time an id is unique. */
type Holder = { pid: number; startedAt: string };

/**
 * Creates a file that only one living process at a time can hold, and returns a handle that releases it;
 * undefined when another process holds it. The file of a process that died is taken over. Used with versions
 * of Node that have no SQLite, whose file locks are used otherwise.
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

/** Creates a hard link, which happens atomically. Returns false when the target exists. */
function link(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Removes the file when its holder has died. Returns false when the holder is alive. */
function removeDead(file: string): boolean {
  const before = read(file);
  if (before !== undefined && holds(before)) return false;
  const aside = `${file}.${process.pid}.dead`;
  try {
    renameSync(file, aside);
  } catch {
    // Another process has removed it in the meantime.
    return true;
  }
  // The moved file belongs to a process that took it over in the meantime, so it is put back.
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

/**
 * Returns the start time of a process in the system's own format; empty when it is unknown or the process has
 * ended.
 */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    // A killed process stays listed as a zombie until its parent has read its exit status.
    return fields[0] === "Z" ? "" : (fields[19] ?? "");
  } catch {
    const ps = spawnSync("ps", ["-p", String(pid), "-o", "lstart="], { encoding: "utf8" });
    return (ps.stdout ?? "").trim();
  }
}
