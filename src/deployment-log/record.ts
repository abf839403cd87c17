import { log } from "../lib/log.ts";
import { scopeObjectName } from "../lib/object-names.ts";
import type { Scope } from "../lib/scope.ts";
import { regionalObject } from "../regions/regional-object.ts";
import { type LogLine, storedMessage } from "./log-line.ts";
import type { DeploymentLogObject } from "./deployment-log-object.ts";
import type { UsageOfDay } from "./usage-table.ts";
import { messageOf } from "../lib/error-text.ts";

/** Maximum lines per call. Together with the maximum length of a message it limits the size of a call. */
const LINES_PER_CALL = 500;

/** Returns the object that has a deployment's log. */
export function logStub(env: Env, deployment: Scope): DurableObjectStub<DeploymentLogObject> {
  return regionalObject(env, "DEPLOYMENT_LOGS", scopeObjectName(deployment));
}

/**
 * Appends lines to a deployment's log; they are on disk when it resolves. Never rejects: lines that cannot be
 * recorded are reported on the platform's own console.
 */
export async function recordLogs(
  env: Env,
  deployment: Scope,
  lines: readonly LogLine[],
): Promise<void> {
  for (let start = 0; start < lines.length; start += LINES_PER_CALL) {
    const part = lines.slice(start, start + LINES_PER_CALL);
    try {
      await logStub(env, deployment).append(
        part.map((line) => ({ ...line, message: storedMessage(line.message) })),
      );
    } catch (error) {
      // The console gets one line for all of them, because one for each would flood it.
      complain("logs_lost", deployment, { lines: part.length, first: part[0]?.message }, error);
    }
  }
}

/** Adds to the recorded usage of a deployment. Never rejects. */
export async function recordUsage(
  env: Env,
  deployment: Scope,
  days: readonly UsageOfDay[],
): Promise<void> {
  try {
    await logStub(env, deployment).addUsage([...days]);
  } catch (error) {
    complain("usage_lost", deployment, { usage: JSON.stringify(days) }, error);
  }
}

function complain(
  event: string,
  { workspaceId, deploymentId }: Scope,
  lost: Record<string, string | number | undefined>,
  error: unknown,
): void {
  const message = messageOf(error);
  log("error", "error", {
    event,
    workspace_id: workspaceId,
    deployment_id: deploymentId,
    ...lost,
    message,
  });
}
