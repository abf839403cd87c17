import { statfs } from "node:fs/promises";
import type { Response as ResponseType } from "miniflare";
import { loadMiniflare } from "./miniflare.ts";

/** Answers the Worker's request for the free space of the disk with this folder: `{free_bytes}`. */
export async function answerDisk(folder: string): Promise<ResponseType> {
  const { bavail, bsize } = await statfs(folder);
  return loadMiniflare().Response.json({ free_bytes: bavail * bsize });
}
