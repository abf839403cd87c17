import { statfs } from "node:fs/promises";
import { Response } from "miniflare";

/** Answers the Worker's question for the room on the disk that has this folder: `{free_bytes}`. */
export async function answerDisk(folder: string): Promise<Response> {
  const { bavail, bsize } = await statfs(folder);
  return Response.json({ free_bytes: bavail * bsize });
}
