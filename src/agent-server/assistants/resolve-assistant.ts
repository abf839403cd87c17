import { type AssistantRow, selectAssistant } from "../../db/assistants-repo.ts";
import type { AgentCall } from "../agent-call.ts";
import { ApiError } from "../../lib/api-error.ts";
import { matchesMetadata } from "../../lib/metadata-filter.ts";
import type { Scope } from "../../lib/scope.ts";
import { type Access, authorize } from "../auth/authorize.ts";
import { cachedAssistant } from "./assistant-cache.ts";
import { ofRevision, restoreDefaultAssistant } from "./default-assistants.ts";
import { defaultAssistantId, toAssistantId } from "./assistant-id.ts";
import { type Assistant, toAssistantJson } from "./assistant-json.ts";

/**
 * Reads an assistant by its id or its graph's name. Returns null if it does not exist, or the caller may not see
 * it.
 */
export async function findAssistant(call: AgentCall, idOrGraph: string): Promise<Assistant | null> {
  const access = await authorize(call, "assistants:read", {
    assistant_id: toAssistantId(idOrGraph),
  });
  const row = await findAssistantRow(call, idOrGraph, access);
  return row === null ? null : toAssistantJson(row);
}

/** Reads an assistant's row with one database read, unless a default assistant has to be created first. */
export async function findAssistantRow(
  call: AgentCall,
  idOrGraph: string,
  { filter }: Access,
): Promise<AssistantRow | null> {
  const id = toAssistantId(idOrGraph);
  const row = await orDefault(call, id, await readRow(call, id));
  if (row === null || filter === null) return row;
  return matchesMetadata(JSON.parse(row.metadata), filter) ? row : null;
}

/** Returns the row; without one, that of the default assistant with this id, which is created if it has to be. */
async function orDefault(
  call: AgentCall,
  id: string,
  found: AssistantRow | null,
): Promise<AssistantRow | null> {
  const isRestored = found === null && (await restoreDefaultAssistant(call, id));
  const row = isRestored ? await readRow(call, id) : found;
  return row === null ? null : ofRevision(call, row);
}

function readRow({ env, scope }: AgentCall, id: string): Promise<AssistantRow | null> {
  return selectAssistant(env.DB, scope, id).first<AssistantRow>();
}

/**
 * Returns the assistant that a run names. A graph's default assistant belongs to the project: whoever may create a
 * run may run it, whatever the handlers allow for assistants. `known` was read earlier in the same request, and
 * saves a read if it is the assistant in question.
 */
export async function resolveAssistant(
  call: AgentCall,
  idOrGraph: string,
  known: AssistantRow | null = null,
): Promise<Assistant> {
  const { env, scope } = call;
  const id = toAssistantId(idOrGraph);
  const isKnown = known !== null && isOf(scope, known, id);
  const row = await orDefault(call, id, isKnown ? known : await cachedAssistant(env, scope, id));
  if (row === null || !(await mayRun(call, row))) {
    throw new ApiError(
      "not_found",
      `No assistant found for "${idOrGraph}". Make sure the assistant ID is for a valid assistant or a valid graph ID.`,
    );
  }
  return toAssistantJson(row);
}

function isOf({ workspaceId, deploymentId }: Scope, row: AssistantRow, id: string): boolean {
  const { workspace_id, deployment_id, assistant_id } = row;
  return workspace_id === workspaceId && deployment_id === deploymentId && assistant_id === id;
}

async function mayRun(call: AgentCall, { assistant_id, graph_id, metadata }: AssistantRow) {
  if (assistant_id === defaultAssistantId(graph_id)) return true;
  const { filter } = await authorize(call, "assistants:read", { assistant_id });
  return filter === null || matchesMetadata(JSON.parse(metadata), filter);
}
