import { localBinding } from "./local-binding.ts";

/** The binding through which a local platform reports the free space of its disk. */
const DISK_BINDING = "LOCAL_DISK";

/** A disk with less free space counts as full: each new object needs a database file and a log beside it. */
const MIN_FREE_BYTES = 4 * 1024 * 1024;

/** Whether the disk of a local platform lacks room for `bytes` more. False when the free space is unknown. */
export async function isDiskFull(env: unknown, bytes = 0): Promise<boolean> {
  const disk = localBinding(env, DISK_BINDING);
  if (disk === undefined) return false;
  try {
    const { free_bytes } = await (
      await disk.fetch("http://disk/")
    ).json<{ free_bytes?: unknown }>();
    return typeof free_bytes === "number" && free_bytes < MIN_FREE_BYTES + bytes;
  } catch {
    // Callers check the disk because of another failure, or before a write that would report its own.
    return false;
  }
}

/** Throws when the disk lacks room. A local bucket on a full disk never answers a `put`. */
export async function requireRoom(env: unknown, bytes: number): Promise<void> {
  if (await isDiskFull(env, bytes)) throw new Error("no space left on device");
}
