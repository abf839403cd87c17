import type { AgentCall } from "./agent-call.ts";
import { ApiError } from "../lib/api-error.ts";
import {
  type ProjectDescription,
  projectDescription,
} from "../revision-host/project-description.ts";
import { requestedGraphs } from "./graph-host.ts";
import { RevisionCache } from "./revision-cache.ts";

const known = new RevisionCache<ProjectDescription>();

/** What the project that a request is about says of itself; asked once, as long as it is sensible. */
export async function describedProject(call: AgentCall): Promise<ProjectDescription> {
  return known.get(call) ?? known.set(call, await describe(call));
}

/** A deployment's code has described itself well before it was deployed, and may do otherwise later. */
async function describe(call: AgentCall): Promise<ProjectDescription> {
  const described = await requestedGraphs(call).describe();
  if (call.revision === null) return described;
  const parsed = projectDescription.safeParse(described);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const at = issue?.path.join(".") || "all";
  throw new ApiError(
    "unavailable",
    `The project describes itself wrongly at ${at}: ${issue?.message}`,
  );
}
