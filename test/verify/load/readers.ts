import { isDeepStrictEqual } from "node:util";
import { followRun } from "../../restart/support/follow-run.ts";
import type { PlatformProcess } from "../../restart/support/platform-process.ts";
import type { PartResult, Problems } from "../part.ts";

const READERS = 1000;
const EVENTS = 40;
const TIMEOUT_MS = 300_000;

/** Checks that each of a thousand readers of one run gets each of its events once, in order. */
export async function manyReaders(
  { client }: PlatformProcess,
  problems: Problems,
): Promise<PartResult["figures"]> {
  const { thread_id: threadId } = await client.threads.create();
  const { run_id: runId } = await client.runs.create(threadId, "custom_stream", {
    input: { count: EVENTS, size: 40, delay_ms: 250 },
    streamMode: "custom",
    streamResumable: true,
  });
  const startedAt = performance.now();
  const deadline = Date.now() + TIMEOUT_MS;
  const read = await Promise.all(
    Array.from({ length: READERS }, () => followRun(client, { threadId, runId }, { deadline })),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  const indexes = Array.from({ length: EVENTS }, (_, index) => index);
  const wrong = read.filter((events) => {
    const custom = events.filter(({ event }) => event === "custom");
    return !isDeepStrictEqual(
      custom.map(({ data }) => (data as { index: number }).index),
      indexes,
    );
  });
  if (wrong.length > 0) problems.add("readers", `${wrong.length} readers missed events of a run`);
  return [
    ["readers of one run", String(READERS)],
    ["events delivered a second", String(Math.round((READERS * EVENTS) / seconds))],
  ];
}
