import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** Writes a file atomically: other processes may read it, or be about to write the same one. */
export function writeWhole(path: string, contents: string | Uint8Array, mode = 0o666): void {
  const partial = `${path}.${process.pid}`;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(partial, contents, { mode });
  renameSync(partial, path);
}
