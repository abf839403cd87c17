import type { AppContext } from "../../http/app-types.ts";
import { ApiError } from "../../lib/api-error.ts";
import { findRuns } from "./find-runs.ts";
import type { PlacedRun } from "./run-source.ts";
import type { PayloadField } from "../model/run-write.ts";

/** One run of the workspace, or of one of its projects; 404 when there is none of that id. */
export async function requireRun(
  c: AppContext,
  workspaceId: string,
  runId: string,
  payloads: readonly PayloadField[] = [],
  projectId?: string,
): Promise<PlacedRun> {
  const { runs } = await findRuns(c.env, {
    workspaceId,
    projectIds: projectId === undefined ? undefined : [projectId],
    selection: { ids: [runId] },
    order: "desc",
    after: null,
    limit: 1,
    payloads,
  });
  const [found] = runs;
  if (found === undefined) throw new ApiError("not_found", `Run ${runId} not found`);
  return found;
}
