import { chmodSync, mkdirSync } from "node:fs";

/**
 * Creates a folder of the platform, and missing ones above it, readable by their owner only; an existing
 * folder is made so, too. Folders above that existed before keep their permissions, because they may hold
 * other things.
 */
export function makePrivateFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  try {
    chmodSync(path, 0o700);
  } catch {
    // The folder belongs to another user or is read-only. Writing to it will report the error.
  }
}
