import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

/** Written by a platform into its state folder while it serves. */
const announcement = z.object({ pid: z.int().positive(), url: z.string() });

/** The URL of the platform that serves a state folder now, if one does. */
export function runningPlatformUrl(stateDir: string): string | undefined {
  try {
    const owner = announcement.parse(
      JSON.parse(readFileSync(join(stateDir, "run/owner.json"), "utf8")),
    );
    return isAlive(owner.pid) ? owner.url : undefined;
  } catch {
    // Nothing serves it, or something is about to.
    return undefined;
  }
}

/** Whether a process is there: one that was killed leaves what it announced, and its files, behind. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
