import type { AppContext } from "../../http/app-types.ts";

/**
 * Work that goes on when its client goes away: a code, and often a refresh token, works once, and what
 * it brought would be lost.
 */
export function toItsEnd<T>(c: AppContext, work: Promise<T>): Promise<T> {
  c.executionCtx.waitUntil(work.then(ignore, ignore));
  return work;
}

/** Its failure is for the request, which awaits the work itself. */
function ignore(): void {}
