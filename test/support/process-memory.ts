import { readdirSync, readFileSync, writeFileSync } from "node:fs";

/** Returns how many bytes of memory this process' servers use at their peak, beyond their use before. */
export async function peakMemory(work: () => Promise<void>): Promise<number> {
  const servers = serverProcesses();
  if (servers.length === 0) throw new Error("This process has started no server");
  const before = sum(servers, "VmRSS");
  // This resets the peak to the current use.
  for (const pid of servers) writeFileSync(`/proc/${pid}/clear_refs`, "5");
  await work();
  return sum(servers, "VmHWM") - before;
}

function serverProcesses(): string[] {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    return field(pid, "PPid") === String(process.pid) && field(pid, "Name") === "workerd";
  });
}

function sum(pids: readonly string[], name: string): number {
  return pids.reduce(
    (total, pid) => total + Number.parseInt(field(pid, name) ?? "0", 10) * 1024,
    0,
  );
}

/** Returns a field of the process, or undefined when it has ended meanwhile. */
function field(pid: string, name: string): string | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return new RegExp(`^${name}:\\s+(.*)$`, "m").exec(status)?.[1];
  } catch {
    return undefined;
  }
}
