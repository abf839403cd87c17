import type { AgentCall } from "../agent-call.ts";
import { ApiError } from "../../lib/api-error.ts";
import type { MetadataFilter } from "../../lib/metadata-filter.ts";
import { requestedGraphs } from "../graph-host.ts";
import { projectRefusal, toAuthorization } from "./host-answers.ts";
import { InvalidFilterError, parseAuthFilter } from "./parse-filter.ts";
import { describedProject } from "../described-project.ts";

/** The actions of the agent server's routes, as they are named to a project's handlers. */
export type AuthEvent =
  | `${"assistants" | "crons"}:${"create" | "read" | "update" | "delete" | "search"}`
  | `threads:${"create" | "read" | "update" | "delete" | "search" | "create_run"}`
  | `store:${"put" | "get" | "delete" | "search" | "list_namespaces"}`;

/**
 * Permission to do one thing. Threads and assistants can only be accessed with one, so that a route cannot omit
 * the check. For its holder, anything that does not match `filter` does not exist.
 */
export type Access = {
  readonly filter: MetadataFilter | null;
  /** The metadata to store: that of the request, including the changes that the handler made. */
  readonly metadata: Record<string, unknown> | undefined;
};

type EventValue = Record<string, unknown> & {
  metadata?: Record<string, unknown> | null | undefined;
};

/**
 * Asks the project whether the request may do `event` to `value`. Makes no call if no handler is registered for
 * the event. Throws the project's answer if it refuses.
 */
export async function authorize(
  call: AgentCall,
  event: AuthEvent,
  value: EventValue,
): Promise<Access> {
  const decided = await askAuthHandler(call, event, value);
  if (decided === null) return { filter: null, metadata: value.metadata ?? undefined };
  return { filter: decided.filter, metadata: metadataOf(decided.metadata, event) };
}

/**
 * Returns what the handler of an event allows, and the event's value as changed by it; null if there is no
 * handler.
 */
export async function askAuthHandler(
  call: AgentCall,
  event: AuthEvent,
  value: Record<string, unknown>,
): Promise<{ filter: MetadataFilter | null; metadata: unknown; item: unknown } | null> {
  const { principal } = call;
  if (principal === null) return null;
  const [resource = "", action = ""] = event.split(":");
  const keys = [event, resource, `*:${action}`, "*"];
  const { auth: info } = await describedProject(call);
  if (!keys.some((key) => info?.events.includes(key))) return null;
  const request = { resource, action, value, ...principal };
  const decided = toAuthorization(await requestedGraphs(call).authorize(request));
  if (!decided.ok) throw projectRefusal(decided);
  const { filter, metadata, item } = decided;
  return { filter: filter === null ? null : filterOf(filter, event), metadata, item };
}

function filterOf(filter: Record<string, unknown>, event: AuthEvent): MetadataFilter {
  try {
    return parseAuthFilter(filter);
  } catch (cause) {
    if (!(cause instanceof InvalidFilterError)) throw cause;
    throw new ApiError("internal", `The handler of ${event} returned a filter that is not valid`, {
      cause,
    });
  }
}

function metadataOf(value: unknown, event: AuthEvent): Record<string, unknown> | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "object" && !Array.isArray(value)) return { ...value };
  throw new ApiError("internal", `The handler of ${event} left metadata that is not an object`);
}
