import type { AgentCall } from "../agent-call.ts";
import { ApiError } from "../../lib/api-error.ts";
import type { MetadataFilter } from "../../lib/metadata-filter.ts";
import { requestedGraphs } from "../graph-host.ts";
import { projectRefusal } from "./project-refusal.ts";
import { toAuthorization } from "./host-answers.ts";
import { InvalidFilterError, parseFilter } from "./parse-filter.ts";
import { describedProject } from "../described-project.ts";

/** What the routes of the agent server do, as a project's handlers hear of it. */
export type AuthEvent =
  | `${"assistants" | "crons"}:${"create" | "read" | "update" | "delete" | "search"}`
  | `threads:${"create" | "read" | "update" | "delete" | "search" | "create_run"}`;

/**
 * Leave to do one thing. Threads and assistants are only reached with one, so that a route cannot
 * forget to ask; to who has it, what does not match `filter` does not exist.
 */
export type Access = {
  readonly filter: MetadataFilter | null;
  /** What is to be stored: the request's, with what the handler wrote into it. */
  readonly metadata: Record<string, unknown> | undefined;
};

type EventValue = Record<string, unknown> & {
  metadata?: Record<string, unknown> | null | undefined;
};

/**
 * Asks the project whether the request may do `event` to what `value` says. Costs nothing where no
 * handler is registered for it. Throws what the project answers when it refuses.
 */
export async function authorize(
  call: AgentCall,
  event: AuthEvent,
  value: EventValue,
): Promise<Access> {
  const metadata = value.metadata ?? undefined;
  const { principal } = call;
  if (principal === null) return { filter: null, metadata };
  const [resource = "", action = ""] = event.split(":");
  const keys = [event, resource, `*:${action}`, "*"];
  const { auth: info } = await describedProject(call);
  if (!keys.some((key) => info?.events.includes(key))) return { filter: null, metadata };
  const request = { resource, action, value, ...principal };
  const decided = toAuthorization(await requestedGraphs(call).authorize(request));
  if (!decided.ok) throw projectRefusal(decided);
  return {
    filter: decided.filter === null ? null : filterOf(decided.filter, event),
    metadata: metadataOf(decided.metadata, event),
  };
}

function filterOf(filter: Record<string, unknown>, event: AuthEvent): MetadataFilter {
  try {
    return parseFilter(filter);
  } catch (cause) {
    if (!(cause instanceof InvalidFilterError)) throw cause;
    throw new ApiError("internal", `The handler of ${event} returned a filter that is none`, {
      cause,
    });
  }
}

function metadataOf(value: unknown, event: AuthEvent): Record<string, unknown> | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "object" && !Array.isArray(value)) return { ...value };
  throw new ApiError("internal", `The handler of ${event} left metadata that is no object`);
}
