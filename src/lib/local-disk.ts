import { localBinding } from "./local-binding.ts";

/** The binding by which a local platform tells how much room its disk has. */
const DISK_BINDING = "LOCAL_DISK";

/** A disk with less is full: each new object needs a file of its own, and a log beside it. */
const MIN_FREE_BYTES = 4 * 1024 * 1024;

/** Whether the disk of a local platform has no room for so many bytes; false where nobody can tell. */
export async function isDiskFull(env: unknown, bytes = 0): Promise<boolean> {
  const disk = localBinding(env, DISK_BINDING);
  if (disk === undefined) return false;
  try {
    const { free_bytes } = await (
      await disk.fetch("http://disk/")
    ).json<{ free_bytes?: unknown }>();
    return typeof free_bytes === "number" && free_bytes < MIN_FREE_BYTES + bytes;
  } catch {
    // Whoever asks has a failure of its own to tell, or will have one.
    return false;
  }
}

/** Throws where there is no room. A local bucket that has none never answers what is put to it. */
export async function requireRoom(env: unknown, bytes: number): Promise<void> {
  if (await isDiskFull(env, bytes)) throw new Error("no space left on device");
}
