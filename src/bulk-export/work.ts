import { z } from "zod";
import {
  endExport,
  listDueSchedules,
  listExportingWorkspaces,
  listOverdueExports,
} from "../db/bulk-exports-repo.ts";
import { deleteUnusedCredentials } from "../db/export-destinations-repo.ts";
import { EXPORT_RUN_WORK } from "../db/export-leases-repo.ts";
import { listOpenUploads } from "../db/export-runs-repo.ts";
import { listDue } from "../db/leases-repo.ts";
import { parseSettings } from "../env.ts";
import { queueHandler } from "../work/queue.ts";
import type { SweepTask } from "../work/sweep.ts";
import { abortLeftUpload } from "./execution/file-upload.ts";
import { runExportStep } from "./execution/export-step.ts";
import { nudgeRuns, spawnDue, startWaiting } from "./execution/schedule.ts";

/** Does a step of the export run that a message names. */
export const exportQueue = queueHandler({
  queue: "threadworks-export-steps",
  message: z.object({ workspaceId: z.string(), runId: z.string() }),
  look: (key, env) => runExportStep(env, key),
  // The lease could not be released, so no other process can take the run before it ends.
  retrySeconds: (env) => parseSettings(env).exportLimits.lease_seconds + 1,
});

/** Work on exports that becomes due by time alone, or that a crash or a lost message has left undone. */
export const exportSweep: readonly SweepTask[] = [
  {
    name: "nudge_export_runs",
    rows: 1000,
    run: async ({ env, now, rows }) =>
      nudgeRuns(env, await listDue(env.DB, EXPORT_RUN_WORK, now, rows)),
  },
  {
    name: "end_overdue_exports",
    rows: 50,
    run: async ({ env, now, rows, each }) => {
      const { export_timeout_seconds } = parseSettings(env).exportLimits;
      const startedBefore = now - export_timeout_seconds * 1000;
      await each(await listOverdueExports(env.DB, startedBefore, rows), ({ workspace_id, id }) =>
        endExport(env.DB, workspace_id, id, { status: "TIMEDOUT", now }),
      );
    },
  },
  {
    name: "spawn_due_exports",
    rows: 100,
    run: async ({ env, now, rows, each }) => {
      const { exportLimits } = parseSettings(env);
      await each(await listDueSchedules(env.DB, now, rows), (schedule) =>
        spawnDue(env, schedule, exportLimits, now),
      );
    },
  },
  {
    name: "start_waiting_exports",
    rows: 100,
    run: async ({ env, rows, each }) =>
      each(await listExportingWorkspaces(env.DB, rows), (workspaceId) =>
        startWaiting(env, workspaceId),
      ),
  },
  {
    name: "abort_left_uploads",
    rows: 10,
    run: async ({ env, rows, each }) =>
      each(await listOpenUploads(env.DB, rows), (run) => abortLeftUpload(env, run)),
  },
  {
    name: "delete_unused_credentials",
    rows: 100,
    run: ({ env, rows }) => deleteUnusedCredentials(env.DB, rows),
  },
];
