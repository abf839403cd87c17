import { ApiError } from "../../lib/api-error.ts";
import type { PayloadField } from "../model/run-write.ts";
import { findRuns } from "./find-runs.ts";
import type { PlacedRun } from "./run-source.ts";

export type RunToRead = {
  workspaceId: string;
  runId: string;
  /** Undefined: the run may be in any project of the workspace. */
  projectId?: string | undefined;
  payloads?: readonly PayloadField[];
};

/** One run; 404 when there is none of that id. */
export async function requireRun(
  env: Env,
  { workspaceId, runId, projectId, payloads = [] }: RunToRead,
): Promise<PlacedRun> {
  const { runs } = await findRuns(env, {
    workspaceId,
    projectIds: projectId === undefined ? undefined : [projectId],
    selection: { ids: [runId] },
    order: "desc",
    after: null,
    limit: 1,
    payloads,
  });
  const [found] = runs;
  if (found === undefined) throw runNotFound(runId);
  return found;
}

/** Also for a run that the caller may not see: it must not tell that there is one. */
export function runNotFound(runId: string): ApiError {
  return new ApiError("not_found", `Run ${runId} not found`);
}
