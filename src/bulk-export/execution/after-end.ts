import { selectBulkExport, type BulkExportRow } from "../../db/bulk-exports-repo.ts";
import { parseSettings } from "../../env.ts";
import { admitExports } from "./admit.ts";
import { spawnDue } from "./schedule.ts";

/** What the end of an export makes room for: the next ranges of its schedule, and exports that wait. */
export async function goOnAfter(
  env: Env,
  ended: Pick<BulkExportRow, "workspace_id" | "source_id">,
): Promise<void> {
  const { workspace_id: workspaceId, source_id: sourceId } = ended;
  if (sourceId !== null) {
    const schedule = await selectBulkExport(env.DB, workspaceId, sourceId);
    const { exportLimits } = parseSettings(env);
    if (schedule !== undefined) await spawnDue(env, schedule, exportLimits, Date.now());
  }
  await admitExports(env, workspaceId);
}
