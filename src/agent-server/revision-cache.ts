import type { AppContext } from "../http/app-types.ts";

/** Of the isolates that serve many deployments; the one used longest ago goes first. */
const MAX_REVISIONS = 1000;

/**
 * What an isolate remembers of each revision. A revision never changes, nor does the project that the
 * Worker was built with, so what was once found out about one stays true.
 */
export class RevisionCache<T> {
  readonly #known = new Map<string, T>();

  get(c: AppContext): T | undefined {
    const key = keyOf(c);
    const value = this.#known.get(key);
    if (value === undefined) return undefined;
    this.#known.delete(key);
    this.#known.set(key, value);
    return value;
  }

  set(c: AppContext, value: T): T {
    this.#known.set(keyOf(c), value);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MAX_REVISIONS) break;
      this.#known.delete(oldest);
    }
    return value;
  }
}

function keyOf({ var: { revision } }: AppContext): string {
  return revision === null ? "" : `${revision.workspaceId}/${revision.revisionId}`;
}
