import { recordRuns } from "../../tracing/record.ts";
import { deploymentName } from "../deployment-name.ts";
import type { RunTracesDeps } from "./run-traces.ts";

/** Records in the project of the scope's deployment; nothing for one that is gone. */
export function traceRecorder(env: Env): RunTracesDeps["record"] {
  return async (scope, operations) => {
    const project = await deploymentName(env.DB, scope);
    if (project !== null) await recordRuns(env, scope.workspaceId, project, operations);
  };
}
