import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type Scratch = {
  /** A folder that is empty at first; `BENCH_STATE_ROOT` says where it is. */
  path: string;
  /** Has the server stopped at the end, if it is not by then. */
  track: <Server extends { stop: () => Promise<void> }>(server: Server) => Server;
};

/**
 * Runs a benchmark in a folder of its own. Its servers are stopped and the folder is deleted at the
 * end, after a failure, a signal, and when the work is not done in time.
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
    // When time is up, what it still asks of the servers ends with them.
    working.catch(() => undefined);
    return await Promise.race([working, tooLong]);
  } finally {
    clearTimeout(timer);
    process.off("SIGINT", onSignal);
    process.off("SIGTERM", onSignal);
    await clear();
  }
}
