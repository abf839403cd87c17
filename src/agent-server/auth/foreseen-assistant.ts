import { isolateCache } from "../../lib/isolate-cache.ts";

const MAX_DEPLOYMENTS = 1000;

const MAKES_RUN = /\/runs(?:\/(?:stream|wait))?$/;

/** The assistant that the latest run in a deployment named, keyed by the deployment's address in URLs. */
const lastNamed = isolateCache<string, string>({ maxEntries: MAX_DEPLOYMENTS });

/**
 * Returns the id of the assistant that a request to a deployment probably names, so that it can be read together
 * with the deployment. The body tells the actual assistant, but is read only once the project is known, because a
 * project's own app may handle the request. Returns null if the request creates no run, or no run was seen in the
 * deployment yet.
 */
export function foreseenAssistant(
  deployment: string,
  { method, path }: { method: string; path: string },
): string | null {
  if (method !== "POST" || !MAKES_RUN.test(path)) return null;
  return lastNamed.get(deployment) ?? null;
}

/** Must be called when a request creates a run; `deployment` is null if the URL does not name one. */
export function foreseeAssistant(deployment: string | null, assistantId: string): void {
  if (deployment !== null) lastNamed.set(deployment, assistantId);
}
