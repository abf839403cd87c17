import { parseSettings } from "../env.ts";
import { log } from "../lib/log.ts";

const SWEEP_INTERVAL_MS = 60_000;

/** The time limit of a sweep: it ends before the next one begins. */
const SWEEP_MS = 50_000;

/** A task for work that becomes due by time alone, or that a crash or a lost message has left undone. */
export type SweepTask = {
  /** The task's name in the log. */
  name: string;
  /** Maximum rows that one sweep looks at. An invocation may make about a thousand calls. */
  rows: number;
  run: (sweep: Sweep) => Promise<unknown>;
};

/** What a task receives from the sweep that runs it. */
type Sweep = {
  env: Env;
  now: number;
  rows: number;
  /**
   * Does the work of each row, one after the other, until the sweep's time is over. A row that fails is left to
   * the next sweep and does not stop the others.
   */
  each: <Row>(rows: readonly Row[], work: (row: Row) => Promise<unknown>) => Promise<void>;
};

/**
 * Runs the tasks one after the other. Failures are logged. Failed tasks, and tasks that the sweep has no time for,
 * are left to the next sweep. `clock` returns the time in milliseconds.
 */
export async function runSweep(
  env: Env,
  now: number,
  tasks: readonly SweepTask[],
  clock: () => number = Date.now,
): Promise<void> {
  const endsAt = clock() + SWEEP_MS;
  // Each sweep begins with another task, so that no task starves behind those that use up the time.
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
