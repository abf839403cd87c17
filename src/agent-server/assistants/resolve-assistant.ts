import { type AssistantRow, selectAssistant } from "../../db/assistants-repo.ts";
import type { AppContext } from "../../http/app-types.ts";
import { ApiError } from "../../lib/api-error.ts";
import { matchesMetadata } from "../../lib/metadata-filter.ts";
import { type Access, authorize } from "../auth/authorize.ts";
import { defaultAssistantId, toAssistantId } from "./assistant-id.ts";
import { restoreDefaultAssistant } from "./default-assistants.ts";
import { type Assistant, toAssistant } from "./wire.ts";

/** To be read, by id or by graph name; null also for one that whoever asks may not see. */
export async function findAssistant(c: AppContext, idOrGraph: string): Promise<Assistant | null> {
  const access = await authorize(c, "assistants:read", { assistant_id: toAssistantId(idOrGraph) });
  const row = await findAssistantRow(c, idOrGraph, access);
  return row === null ? null : toAssistant(row);
}

/** One read of the database, unless a default assistant is to be made. */
export async function findAssistantRow(
  c: AppContext,
  idOrGraph: string,
  { filter }: Access,
): Promise<AssistantRow | null> {
  const row = await readRow(c, idOrGraph);
  if (row === null || filter === null) return row;
  return matchesMetadata(JSON.parse(row.metadata), filter) ? row : null;
}

async function readRow(c: AppContext, idOrGraph: string): Promise<AssistantRow | null> {
  const id = toAssistantId(idOrGraph);
  const select = selectAssistant(c.env.DB, c.var.scope, id);
  const row = await select.first<AssistantRow>();
  if (row !== null || !(await restoreDefaultAssistant(c, id))) return row;
  return select.first<AssistantRow>();
}

/**
 * The assistant that a run names. A graph's default assistant is the project's own: who may create a
 * run may run it, whatever handlers say of assistants.
 */
export async function resolveAssistant(c: AppContext, idOrGraph: string): Promise<Assistant> {
  const row = await readRow(c, idOrGraph);
  if (row === null || !(await mayRun(c, row))) {
    throw new ApiError(
      "not_found",
      `No assistant found for "${idOrGraph}". Make sure the assistant ID is for a valid assistant or a valid graph ID.`,
    );
  }
  return toAssistant(row);
}

async function mayRun(c: AppContext, { assistant_id, graph_id, metadata }: AssistantRow) {
  if (assistant_id === defaultAssistantId(graph_id)) return true;
  const { filter } = await authorize(c, "assistants:read", { assistant_id });
  return filter === null || matchesMetadata(JSON.parse(metadata), filter);
}
