import { toIso } from "../../lib/time.ts";
import type { AssistantRow, AssistantVersionRow } from "../../db/assistants-repo.ts";

export type AssistantVersion = {
  assistant_id: string;
  graph_id: string;
  version: number;
  config: Record<string, unknown>;
  context: Record<string, unknown>;
  metadata: Record<string, unknown>;
  name: string;
  description: string | null;
  created_at: string;
};

export type Assistant = AssistantVersion & { updated_at: string };

export function toAssistantJson(row: AssistantRow): Assistant {
  return { ...toAssistantVersionJson(row), updated_at: toIso(row.updated_at) };
}

export function toAssistantVersionJson(row: AssistantVersionRow): AssistantVersion {
  return {
    assistant_id: row.assistant_id,
    graph_id: row.graph_id,
    version: row.version,
    config: JSON.parse(row.config),
    context: JSON.parse(row.context),
    metadata: JSON.parse(row.metadata),
    name: row.name,
    description: row.description,
    created_at: toIso(row.created_at),
  };
}
