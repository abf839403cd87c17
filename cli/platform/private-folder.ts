import { chmodSync, mkdirSync } from "node:fs";

/**
 * Makes a folder of the platform's own, and those above it that are missing, or takes the one that is there:
 * nobody but its owner may look in. What is above and was there before may hold other things, and stays.
 */
export function makePrivateFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  try {
    chmodSync(path, 0o700);
  } catch {
    // Somebody else's, or read-only: whoever writes into it says so.
  }
}
