import type { AgentCall } from "./agent-call.ts";
import { isolateCache } from "../lib/isolate-cache.ts";
import { ApiError } from "../lib/api-error.ts";
import {
  type ProjectDescription,
  projectDescription,
} from "../revision-host/project-description.ts";
import { requestedGraphs } from "./graph-host.ts";

const MAX_REVISIONS = 1000;

/**
 * Caches values per revision in the isolate's memory. A revision never changes, nor does the project that the
 * Worker was built with, so entries never become stale.
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

const known = new RevisionCache<ProjectDescription>();

/** Returns the description of the project that a request is for. It is read once per revision and isolate. */
export async function describedProject(call: AgentCall): Promise<ProjectDescription> {
  return known.get(call) ?? known.set(call, await describe(call));
}

/** A deployment's description was valid when it was deployed, but its code may return something else later. */
async function describe(call: AgentCall): Promise<ProjectDescription> {
  const described = await requestedGraphs(call).describe();
  if (call.revision === null) return { http: null, ui: {}, ...described };
  const parsed = projectDescription.safeParse(described);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const at = issue?.path.join(".") || "all";
  throw new ApiError(
    "unavailable",
    `The project describes itself wrongly at ${at}: ${issue?.message}`,
  );
}
