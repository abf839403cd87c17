import type { AppContext } from "../http/app-types.ts";
import { isolateCache } from "../lib/isolate-cache.ts";

const MAX_REVISIONS = 1000;

/**
 * What an isolate remembers of each revision. A revision never changes, nor does the project that the
 * Worker was built with, so what was once found out about one stays true.
 */
export class RevisionCache<T extends {}> {
  readonly #known = isolateCache<string, T>({ maxEntries: MAX_REVISIONS });

  get(c: AppContext): T | undefined {
    return this.#known.get(keyOf(c));
  }

  set(c: AppContext, value: T): T {
    this.#known.set(keyOf(c), value);
    return value;
  }
}

function keyOf({ var: { revision } }: AppContext): string {
  return revision === null ? "" : `${revision.workspaceId}/${revision.revisionId}`;
}
