import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

/** Written by a platform into its state folder while it serves. */
const announcement = z.object({ pid: z.int().positive(), url: z.string() });

/** Returns the URL of the platform that is serving a state folder; undefined when there is none. */
export function runningPlatformUrl(stateDir: string): string | undefined {
  try {
    const owner = announcement.parse(
      JSON.parse(readFileSync(join(stateDir, "run/owner.json"), "utf8")),
    );
    return isAlive(owner.pid) ? owner.url : undefined;
  } catch {
    // No platform serves it, or one is just starting.
    return undefined;
  }
}

/** Returns whether a process exists. A killed process leaves its announcement and its files behind. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
