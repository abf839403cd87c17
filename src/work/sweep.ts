import { parseSettings } from "../env.ts";
import { log } from "../lib/log.ts";

const SWEEP_INTERVAL_MS = 60_000;

/** A sweep is over before the next one begins. */
const SWEEP_MS = 50_000;

/** One thing that time alone makes due, or that a crash or a lost message has left undone. */
export type SweepTask = {
  /** Its name in the log. */
  name: string;
  /** How many rows one sweep looks at: an invocation may make some thousand calls. */
  rows: number;
  run: (sweep: Sweep) => Promise<unknown>;
};

/** What a task is given of the sweep that runs it. */
type Sweep = {
  env: Env;
  now: number;
  rows: number;
  /**
   * Does the work of each row, one after the other, until the time of the sweep is over. What fails is left to the
   * next sweep, and keeps no other row from its turn.
   */
  each: <Row>(rows: readonly Row[], work: (row: Row) => Promise<unknown>) => Promise<void>;
};

/**
 * Runs the tasks one after the other. What fails is logged and left to the next sweep, and so is what the sweep has
 * no time for. `clock` is the time in milliseconds.
 */
export async function runSweep(
  env: Env,
  now: number,
  tasks: readonly SweepTask[],
  clock: () => number = Date.now,
): Promise<void> {
  const endsAt = clock() + SWEEP_MS;
  // Each sweep begins with another task, so that none waits for ever behind those that take all of its time.
  const first = Math.floor(now / SWEEP_INTERVAL_MS) % tasks.length;
  for (const { name, rows, run } of [...tasks.slice(first), ...tasks.slice(0, first)]) {
    const attempt = async (work: () => Promise<unknown>): Promise<void> => {
      try {
        await work();
      } catch (error) {
        const fields = { event: "sweep_failed", task: name, error: String(error) };
        log(parseSettings(env).logLevel, "error", fields);
      }
    };
    const each: Sweep["each"] = async (found, work) => {
      for (const row of found) {
        if (clock() >= endsAt) return;
        await attempt(() => work(row));
      }
    };
    if (clock() >= endsAt) return;
    await attempt(() => run({ env, now, rows, each }));
  }
}
