import type { KeyAsOf } from "../../identity/authenticate.ts";

/** Paths that start a run, of whatever deployment and on whatever thread. */
const STARTS_RUN = /\/(?:runs(?:\/(?:stream|wait|batch))?|commands)$/;

/**
 * How current the knowledge of a request's key has to be. What starts a run goes by what the isolate has known for five
 * seconds at most, so that a key that is in use costs no look-up before the first event of a run.
 */
export function keyAsOf({ method, path }: { method: string; path: string }): KeyAsOf {
  return method === "POST" && STARTS_RUN.test(path) ? "recent" : "current";
}
