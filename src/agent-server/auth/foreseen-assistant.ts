import type { AppContext } from "../../http/app-types.ts";
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
export function foreseenAssistant(c: AppContext): string | null {
  const { deployment } = c.var.arrival;
  if (deployment === null || c.req.method !== "POST" || !MAKES_RUN.test(c.req.path)) return null;
  return lastNamed.get(deployment) ?? null;
}

/** To be called when a request makes a run. */
export function foreseeAssistant(c: AppContext, assistantId: string): void {
  const { deployment } = c.var.arrival;
  if (deployment !== null) lastNamed.set(deployment, assistantId);
}
