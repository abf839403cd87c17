import { isolateCache } from "../../lib/isolate-cache.ts";

const MAX_DEPLOYMENTS = 1000;

const MAKES_RUN = /\/runs(?:\/(?:stream|wait))?$/;

/** By what names a deployment in URLs: the assistant that the run named which was made there last. */
const lastNamed = isolateCache<string, string>({ maxEntries: MAX_DEPLOYMENTS });

/**
 * The id of the assistant that a request to a deployment probably names, so that it is read together with the deployment.
 * Which one it names is in the body, which is read when the project is known, because a project's own app may take it.
 * Null for a request that makes no run, and for the first one that does.
 */
export function foreseenAssistant(
  deployment: string,
  { method, path }: { method: string; path: string },
): string | null {
  if (method !== "POST" || !MAKES_RUN.test(path)) return null;
  return lastNamed.get(deployment) ?? null;
}

/** To be called when a request makes a run; `deployment` is null where the URL names none. */
export function foreseeAssistant(deployment: string | null, assistantId: string): void {
  if (deployment !== null) lastNamed.set(deployment, assistantId);
}
