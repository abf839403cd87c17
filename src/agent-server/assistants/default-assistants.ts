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

/** In the place of a revision, for the graphs that the Worker was built with. */
const BUILT_IN = "";

/** Says in the metadata of a default assistant that the server has made it. */
const MADE_BY = "system";

const MAX_SCOPES = 10_000;

/** By scope, the revision whose graphs are known to have their default assistants. */
const ensured = isolateCache<string, string>({ maxEntries: MAX_SCOPES });

/**
 * Every graph of the project has a default assistant in every scope, made when it is first looked
 * for. One that was deleted comes back as it was made.
 */
export async function ensureDefaultAssistants(call: AgentCall): Promise<void> {
  const { scope } = call;
  const name = scopeObjectName(scope);
  const revision = requestedRevision(call).revision_id ?? BUILT_IN;
  if (ensured.get(name) === revision) return;
  await insertDefaults(call, await projectGraphs(call));
  ensured.set(name, revision);
}

/** Makes the default assistant with this id, and tells whether a graph has one of this id. */
export async function restoreDefaultAssistant(call: AgentCall, id: string): Promise<boolean> {
  const known = await projectGraphs(call);
  const graph = known.find(({ graph_id }) => defaultAssistantId(graph_id) === id);
  if (graph === undefined) return false;
  await insertDefaults(call, [graph]);
  return true;
}

/** Has to be called when an assistant was deleted, because it may have been a default one. */
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
 * The assistant as the request's revision has it: a default assistant that nobody has changed has the config and the
 * context of LANGGRAPH_CONFIG, which are stored nowhere, so that it follows from revision to revision.
 */
export async function ofRevision(call: AgentCall, row: AssistantRow): Promise<AssistantRow> {
  const defaults = await defaultsOf(call, row);
  if (defaults === undefined) return row;
  const { config, context } = defaults;
  return { ...row, config: JSON.stringify(config), context: JSON.stringify(context) };
}

/** What a change of a default assistant begins with, which nobody has changed before; undefined for any other. */
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
