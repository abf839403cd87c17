import { type AssistantRow, selectAssistant } from "../../db/assistants-repo.ts";
import type { AgentCall } from "../agent-call.ts";
import { ApiError } from "../../lib/api-error.ts";
import { matchesMetadata } from "../../lib/metadata-filter.ts";
import { type Access, authorize } from "../auth/authorize.ts";
import { ofRevision, restoreDefaultAssistant } from "./default-assistants.ts";
import { defaultAssistantId, toAssistantId } from "./assistant-id.ts";
import { type Assistant, toAssistantJson } from "./assistant-json.ts";

/** Reads an assistant by its id or its graph's name. Null when there is none, or the caller may not see it. */
export async function findAssistant(call: AgentCall, idOrGraph: string): Promise<Assistant | null> {
  const access = await authorize(call, "assistants:read", {
    assistant_id: toAssistantId(idOrGraph),
  });
  const row = await findAssistantRow(call, idOrGraph, access);
  return row === null ? null : toAssistantJson(row);
}

/** Takes one read of the database, unless a default assistant has to be made first. */
export async function findAssistantRow(
  call: AgentCall,
  idOrGraph: string,
  { filter }: Access,
): Promise<AssistantRow | null> {
  const row = await readRow(call, idOrGraph);
  if (row === null || filter === null) return row;
  return matchesMetadata(JSON.parse(row.metadata), filter) ? row : null;
}

async function readRow(call: AgentCall, idOrGraph: string): Promise<AssistantRow | null> {
  const id = toAssistantId(idOrGraph);
  const select = selectAssistant(call.env.DB, call.scope, id);
  let row = await select.first<AssistantRow>();
  if (row === null && (await restoreDefaultAssistant(call, id))) {
    row = await select.first<AssistantRow>();
  }
  return row === null ? null : ofRevision(call, row);
}

/**
 * The assistant that a run names. A graph's default assistant is the project's own: who may create a
 * run may run it, whatever handlers say of assistants.
 */
export async function resolveAssistant(call: AgentCall, idOrGraph: string): Promise<Assistant> {
  const row = await readRow(call, idOrGraph);
  if (row === null || !(await mayRun(call, row))) {
    throw new ApiError(
      "not_found",
      `No assistant found for "${idOrGraph}". Make sure the assistant ID is for a valid assistant or a valid graph ID.`,
    );
  }
  return toAssistantJson(row);
}

async function mayRun(call: AgentCall, { assistant_id, graph_id, metadata }: AssistantRow) {
  if (assistant_id === defaultAssistantId(graph_id)) return true;
  const { filter } = await authorize(call, "assistants:read", { assistant_id });
  return filter === null || matchesMetadata(JSON.parse(metadata), filter);
}
