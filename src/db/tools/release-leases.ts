import type { SqlRunner } from "./sql-runner.ts";

/** The tables of durable work, whose rows are leased by `lease` until `due_at`. */
const WORK_TABLES = ["export_runs", "revisions", "crons"];

/**
 * Lets work on exports, rollouts and crons be taken over at once. Only while no Worker runs, or one that has
 * just started: whoever had the leases is gone then.
 */
export async function releaseLeases(db: SqlRunner): Promise<void> {
  for (const table of WORK_TABLES) {
    await db.run(`UPDATE ${table} SET due_at = 0 WHERE lease IS NOT NULL AND due_at > 0`);
  }
}
