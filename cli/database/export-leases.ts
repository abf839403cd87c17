import type { Database } from "./database.ts";

/**
 * Lets steps of exports be taken over at once. Only while nothing serves the database: whoever had
 * their leases is gone then.
 */
export async function expireExportLeases(database: Database): Promise<void> {
  await database.run("UPDATE export_runs SET lease_until = 0 WHERE lease_until > 0");
}
