import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type Scratch = {
  /** A folder that is empty at first; `BENCH_STATE_ROOT` sets its parent. */
  path: string;
  /** Makes sure that the server is stopped at the end, and returns it. */
  track: <Server extends { stop: () => Promise<void> }>(server: Server) => Server;
};

/**
 * Runs a benchmark in a new folder. At the end, its servers are stopped and the folder is deleted, also after a
 * failure, a signal, or when the work is not done in time.
 */
export async function inScratch<T>(
  name: string,
  timeLimitMs: number,
  work: (scratch: Scratch) => Promise<T>,
): Promise<T> {
  const path = await mkdtemp(join(process.env["BENCH_STATE_ROOT"] ?? tmpdir(), `bench-${name}-`));
  console.log(`state: ${path}`);
  const stops: (() => Promise<void>)[] = [];
  const clear = async (): Promise<void> => {
    await Promise.allSettled(stops.map((stop) => stop()));
    await rm(path, { recursive: true, force: true });
  };
  const onSignal = (): void => void clear().finally(() => process.exit(130));
  process.once("SIGINT", onSignal);
  process.once("SIGTERM", onSignal);
  const { promise: tooLong, reject } = Promise.withResolvers<never>();
  const minutes = timeLimitMs / 60_000;
  const timer = setTimeout(() => reject(new Error(`Not done in ${minutes} minutes`)), timeLimitMs);
  const track: Scratch["track"] = (server) => {
    stops.push(server.stop);
    return server;
  };
  try {
    const working = work({ path, track });
    // After a time-out, the requests that the work still makes fail when the servers stop.
    working.catch(() => undefined);
    return await Promise.race([working, tooLong]);
  } finally {
    clearTimeout(timer);
    process.off("SIGINT", onSignal);
    process.off("SIGTERM", onSignal);
    await clear();
  }
}
