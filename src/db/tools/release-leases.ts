import type { SqlRunner } from "./sql-runner.ts";

/** The tables of durable work, whose rows are leased by `lease` until `due_at`. */
const WORK_TABLES = ["export_runs", "revisions", "crons"];

/**
 * Ends all leases on exports, rollouts and crons, so that other processes can take them over at once. Call this
 * only while no Worker runs, or one that has just started: then every lease holder is gone.
 */
export async function releaseLeases(db: SqlRunner): Promise<void> {
  for (const table of WORK_TABLES) {
    await db.run(`UPDATE ${table} SET due_at = 0 WHERE lease IS NOT NULL AND due_at > 0`);
  }
}
