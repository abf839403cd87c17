import type { Database } from "./database.ts";

/**
 * Lets work on exports and rollouts be taken over at once. Only while no Worker runs, or one that has
 * just started: whoever had the leases is gone then.
 */
export async function releaseLeases(database: Database): Promise<void> {
  await database.run("UPDATE export_runs SET lease_until = 0 WHERE lease_until > 0");
  await database.run("UPDATE revisions SET due_at = 0, lease = NULL WHERE lease IS NOT NULL");
}
