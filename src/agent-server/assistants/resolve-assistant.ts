import { type AssistantRow, selectAssistant } from "../../db/assistants-repo.ts";
import type { AppContext } from "../../http/app-types.ts";
import { ApiError } from "../../http/errors.ts";
import { toAssistantId } from "./assistant-id.ts";
import { restoreDefaultAssistant } from "./default-assistants.ts";
import { type Assistant, toAssistant } from "./wire.ts";

/** By id or by graph name. One read of the database, unless a default assistant is to be made. */
export async function findAssistant(c: AppContext, idOrGraph: string): Promise<Assistant | null> {
  const row = await findAssistantRow(c, idOrGraph);
  return row === null ? null : toAssistant(row);
}

export async function findAssistantRow(
  c: AppContext,
  idOrGraph: string,
): Promise<AssistantRow | null> {
  const id = toAssistantId(idOrGraph);
  const select = selectAssistant(c.env.DB, c.var.scope, id);
  const row = await select.first<AssistantRow>();
  if (row !== null || !(await restoreDefaultAssistant(c, id))) return row;
  return select.first<AssistantRow>();
}

/** The assistant that a run names. */
export async function resolveAssistant(c: AppContext, idOrGraph: string): Promise<Assistant> {
  const assistant = await findAssistant(c, idOrGraph);
  if (assistant === null) {
    throw new ApiError(
      "not_found",
      `No assistant found for "${idOrGraph}". Make sure the assistant ID is for a valid assistant or a valid graph ID.`,
    );
  }
  return assistant;
}
