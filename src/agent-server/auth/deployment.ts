import { findServingDeployment } from "../../db/deployment-lookup-repo.ts";
import type { AppContext } from "../../http/app-types.ts";
import { ApiError } from "../../lib/api-error.ts";
import { type KeyAsOf, workspaceOfRequest } from "../../identity/authenticate.ts";
import type { RevisionRef } from "../../lib/revision-ref.ts";

/** A deployment that a request is for, and the workspace of the request's key if there is a valid one. */
export type RequestedDeployment = {
  revision: RevisionRef;
  keyWorkspace: PromiseSettledResult<string>;
};

/**
 * The deployment that the request's URL names, null when it names none. A caller without
 * a key of its workspace cannot tell a deployment that does not serve from one that does not exist.
 */
export async function requestedDeployment(c: AppContext): Promise<RequestedDeployment | null> {
  const { deployment: address } = c.var.arrival;
  if (address === null) return null;
  const [found, key] = await Promise.allSettled([
    findServingDeployment(c.env.DB, address),
    workspaceOfRequest(c, keyAsOf(c.req)),
  ]);
  if (found.status === "rejected") throw found.reason;
  const { value } = found;
  if (value !== undefined && value.revisionId !== null) {
    return { revision: { ...value, revisionId: value.revisionId }, keyWorkspace: key };
  }
  if (valueOf(key) !== value?.workspaceId) throw deploymentNotFound();
  throw new ApiError("unavailable", "The deployment has no revision that is deployed yet");
}

/** Requires a key of the deployment's workspace: 401 without a valid one, 404 with one of another workspace. */
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

/** Paths that start a run, of whatever deployment and on whatever thread. */
const STARTS_RUN = /\/(?:runs(?:\/(?:stream|wait|batch))?|commands)$/;

/**
 * How current the knowledge of a request's key has to be. What starts a run goes by what the isolate has known for five
 * seconds at most, so that a key that is in use costs no look-up before the first event of a run.
 */
export function keyAsOf({ method, path }: { method: string; path: string }): KeyAsOf {
  return method === "POST" && STARTS_RUN.test(path) ? "recent" : "current";
}
