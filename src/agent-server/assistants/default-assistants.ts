import { type AssistantRow, insertAssistant } from "../../db/assistants-repo.ts";
import type { AgentCall } from "../agent-call.ts";
import { ApiError } from "../../lib/api-error.ts";
import { isolateCache } from "../../lib/isolate-cache.ts";
import { scopeObjectName } from "../../lib/object-names.ts";
import type { Scope } from "../../lib/scope.ts";
import type { AssistantDefaults, GraphInfo } from "../../graph-runtime/protocol.ts";
import { describedProject } from "../described-project.ts";
import { requestedRevision } from "../graph-host.ts";
import { defaultAssistantId } from "./assistant-id.ts";

/** Replaces the revision for the graphs that the Worker was built with. */
const BUILT_IN = "";

/** Value in a default assistant's metadata that marks it as created by the server. */
const MADE_BY = "system";

const MAX_SCOPES = 10_000;

/** Revisions whose graphs are known to have their default assistants, keyed by scope. */
const ensured = isolateCache<string, string>({ maxEntries: MAX_SCOPES });

/**
 * Makes sure that every graph of the project has a default assistant in the request's scope. A default assistant
 * that was deleted is created again in its original form.
 */
export async function ensureDefaultAssistants(call: AgentCall): Promise<void> {
  const { scope } = call;
  const name = scopeObjectName(scope);
  const revision = requestedRevision(call).revision_id ?? BUILT_IN;
  if (ensured.get(name) === revision) return;
  await insertDefaults(call, await projectGraphs(call));
  ensured.set(name, revision);
}

/** Creates the default assistant with this id. Returns false if no graph has a default assistant with this id. */
export async function restoreDefaultAssistant(call: AgentCall, id: string): Promise<boolean> {
  const known = await projectGraphs(call);
  const graph = known.find(({ graph_id }) => defaultAssistantId(graph_id) === id);
  if (graph === undefined) return false;
  await insertDefaults(call, [graph]);
  return true;
}

/** Must be called after an assistant is deleted, because it may have been a default one. */
export function forgetEnsured(scope: Scope): void {
  ensured.delete(scopeObjectName(scope));
}

export async function assertGraphExists(call: AgentCall, graphId: string): Promise<void> {
  const known = await projectGraphs(call);
  if (!known.some(({ graph_id }) => graph_id === graphId)) {
    throw new ApiError("not_found", `Graph "${graphId}" not found`);
  }
}

/**
 * Returns the assistant as the request's revision defines it. A default assistant that has never been changed has
 * the config and the context of LANGGRAPH_CONFIG. They are not stored, so they change with each revision.
 */
export async function ofRevision(call: AgentCall, row: AssistantRow): Promise<AssistantRow> {
  const defaults = await defaultsOf(call, row);
  if (defaults === undefined) return row;
  const { config, context } = defaults;
  return { ...row, config: JSON.stringify(config), context: JSON.stringify(context) };
}

/**
 * Returns the config and context that the first change of a default assistant starts from; undefined for an
 * assistant that is not a default one, or has been changed already.
 */
export async function defaultsOf(
  call: AgentCall,
  { assistant_id, graph_id, version, metadata }: AssistantRow,
): Promise<AssistantDefaults | undefined> {
  if (version !== 1 || assistant_id !== defaultAssistantId(graph_id)) return undefined;
  const { created_by }: { created_by?: unknown } = JSON.parse(metadata);
  if (created_by !== MADE_BY) return undefined;
  const { assistants } = await describedProject(call);
  return Object.hasOwn(assistants ?? {}, graph_id) ? assistants?.[graph_id] : undefined;
}

async function projectGraphs(call: AgentCall): Promise<GraphInfo[]> {
  return (await describedProject(call)).graphs;
}

async function insertDefaults(call: AgentCall, known: readonly GraphInfo[]): Promise<void> {
  const statements = known.flatMap((graph) =>
    insertAssistant(call.env.DB, toDefaultRow(call.scope, graph, Date.now())),
  );
  if (statements.length > 0) await call.env.DB.batch(statements);
}

function toDefaultRow(scope: Scope, graph: GraphInfo, now: number): AssistantRow {
  return {
    workspace_id: scope.workspaceId,
    deployment_id: scope.deploymentId,
    assistant_id: defaultAssistantId(graph.graph_id),
    version: 1,
    graph_id: graph.graph_id,
    name: graph.graph_id,
    description: graph.description,
    config: "{}",
    context: "{}",
    metadata: JSON.stringify({ created_by: MADE_BY }),
    created_at: now,
    updated_at: now,
  };
}
