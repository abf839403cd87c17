import { findServingDeployment } from "../../db/deployment-lookup-repo.ts";
import type { AppContext } from "../../http/app-types.ts";
import { ApiError } from "../../lib/api-error.ts";
import { type KeyAsOf, workspaceOfRequest } from "../../identity/authenticate.ts";
import type { RevisionRef } from "../../lib/revision-ref.ts";
import type { AssistantRow } from "../../db/assistants-repo.ts";
import { foreseenAssistant } from "./foreseen-assistant.ts";

/** A deployment that a request is for, and the workspace of the request's key if that is valid. */
export type RequestedDeployment = {
  revision: RevisionRef;
  keyWorkspace: PromiseSettledResult<string>;
  /** The assistant that the request probably names, read in advance. */
  foreseen: AssistantRow | null;
};

/**
 * Returns the deployment that the request's URL names; null if it names none. A caller without a key of the
 * deployment's workspace gets the same error for a deployment that is not serving as for one that does not exist.
 */
export async function requestedDeployment(c: AppContext): Promise<RequestedDeployment | null> {
  const { deployment: address } = c.var.arrival;
  if (address === null) return null;
  const [found, key] = await Promise.allSettled([
    findServingDeployment(c.env.DB, address, foreseenAssistant(address, c.req)),
    workspaceOfRequest(c, keyAsOf(c.req)),
  ]);
  if (found.status === "rejected") throw found.reason;
  const { value } = found;
  if (value !== undefined && value.revisionId !== null) {
    const { workspaceId, deploymentId, revisionId, assistant } = value;
    const revision = { workspaceId, deploymentId, revisionId };
    return { revision, keyWorkspace: key, foreseen: assistant };
  }
  if (valueOf(key) !== value?.workspaceId) throw deploymentNotFound();
  throw new ApiError("unavailable", "The deployment has no revision that is deployed yet");
}

/**
 * Requires a key of the deployment's workspace: throws a 401 without a valid key, a 404 for a key of another
 * workspace.
 */
export function requireKeyOf({ revision, keyWorkspace }: RequestedDeployment): void {
  if (valueOf(keyWorkspace) !== revision.workspaceId) throw deploymentNotFound();
}

function valueOf(key: PromiseSettledResult<string>): string {
  if (key.status === "rejected") throw key.reason;
  return key.value;
}

function deploymentNotFound(): ApiError {
  return new ApiError("not_found", "Deployment not found");
}

/** Paths that start a run, in any deployment and on any thread. */
const STARTS_RUN = /\/(?:runs(?:\/(?:stream|wait|batch))?|commands)$/;

/**
 * Returns how current the cached state of a request's key must be. A request that starts a run accepts what the
 * isolate read within the last five seconds, so that a key in use needs no look-up before the first event of a
 * run.
 */
export function keyAsOf({ method, path }: { method: string; path: string }): KeyAsOf {
  return method === "POST" && STARTS_RUN.test(path) ? "recent" : "current";
}
