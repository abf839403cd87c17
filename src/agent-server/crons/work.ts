import { CRON_WORK } from "../../db/crons-repo.ts";
import { listDue } from "../../db/leases-repo.ts";
import type { SweepTask } from "../../work/sweep.ts";
import { makeDueRun } from "./make-run.ts";

/** Each is some calls, of which an invocation may make some thousand. */
const RUNS_PER_SWEEP = 500;

/** Makes the runs of crons whose ticks are due, the longest waiting first. */
export function cronSweep(exports: Cloudflare.Exports): readonly SweepTask[] {
  return [
    {
      name: "make_cron_runs",
      rows: RUNS_PER_SWEEP,
      run: async ({ env, now, rows, each }) =>
        each(await listDue(env.DB, CRON_WORK, now, rows), (key) => makeDueRun(env, exports, key)),
    },
  ];
}
