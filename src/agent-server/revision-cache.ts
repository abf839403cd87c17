import type { AgentCall } from "./agent-call.ts";
import { isolateCache } from "../lib/isolate-cache.ts";

const MAX_REVISIONS = 1000;

/**
 * What an isolate remembers of each revision. A revision never changes, nor does the project that the
 * Worker was built with, so what was once found out about one stays true.
 */
export class RevisionCache<T extends {}> {
  readonly #known = isolateCache<string, T>({ maxEntries: MAX_REVISIONS });

  get(call: AgentCall): T | undefined {
    return this.#known.get(keyOf(call));
  }

  set(call: AgentCall, value: T): T {
    this.#known.set(keyOf(call), value);
    return value;
  }
}

function keyOf({ revision }: AgentCall): string {
  return revision === null ? "" : `${revision.workspaceId}/${revision.revisionId}`;
}
