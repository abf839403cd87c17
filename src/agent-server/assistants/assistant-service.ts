import { v7 as uuidv7 } from "uuid";
import type { z } from "zod";
import {
  type AssistantFilter,
  type AssistantRow,
  countAssistants,
  deleteAssistant,
  insertAssistant,
  restoreVersion,
  searchAssistants,
  selectAssistant,
  selectVersions,
  updateAssistant,
} from "../../db/assistants-repo.ts";
import { threadIdsOfAssistant } from "../../db/threads-repo.ts";
import type { AgentCall } from "../agent-call.ts";
import { ApiError, invalidField } from "../../lib/api-error.ts";
import type { Page } from "../../http/pagination.ts";
import { jsonListOf, type JsonText } from "../../lib/json-answer.ts";
import { mapLimited } from "../../lib/map-limited.ts";
import { matchesMetadata } from "../../lib/metadata-filter.ts";
import { type Access, authorize } from "../auth/authorize.ts";
import { threadWith } from "../auth/thread-access.ts";
import {
  assertGraphExists,
  defaultsOf,
  ensureDefaultAssistants,
  forgetEnsured,
  ofRevision,
  restoreDefaultAssistant,
} from "./default-assistants.ts";
import { forgetAssistant } from "./assistant-cache.ts";
import { toAssistantId } from "./assistant-id.ts";
import { findAssistantRow } from "./resolve-assistant.ts";
import type {
  assistantCreateSchema,
  assistantPatchSchema,
  AssistantSearch,
  versionsSearchSchema,
} from "./schemas.ts";
import { type Assistant, toAssistantJson, toAssistantVersionJson } from "./assistant-json.ts";
import { threadDatabases } from "../threads/index/thread-databases.ts";
import { removeFromIndex } from "../threads/index/thread-index.ts";

/** Maximum attempts at an update when another update happens between its read and its write. */
const MAX_UPDATE_ATTEMPTS = 8;

const THREADS_AT_ONCE = 50;

/** A page of `returned` items as JSON text. */
type ListedJson = { json: JsonText; returned: number; total: number; page: Page };

export async function createAssistant(
  call: AgentCall,
  body: z.infer<typeof assistantCreateSchema>,
): Promise<Assistant> {
  await assertGraphExists(call, body.graph_id);
  const { scope } = call;
  const { DB } = call.env;
  const now = Date.now();
  const id = body.assistant_id ?? uuidv7();
  const { filter, metadata = {} } = await authorize(call, "assistants:create", {
    ...body,
    assistant_id: id,
    metadata: body.metadata ?? {},
  });
  // Otherwise a user could create a graph's default assistant, which every caller gets who names the graph.
  if (call.principal !== null) await restoreDefaultAssistant(call, id);
  const row: AssistantRow = {
    workspace_id: scope.workspaceId,
    deployment_id: scope.deploymentId,
    assistant_id: id,
    version: 1,
    graph_id: body.graph_id,
    name: body.name === "" ? body.graph_id : (body.name ?? "Untitled"),
    description: body.description ?? null,
    config: JSON.stringify(body.config ?? {}),
    context: JSON.stringify(body.context ?? {}),
    metadata: JSON.stringify(metadata),
    created_at: now,
    updated_at: now,
  };
  const [inserted, , selected] = await DB.batch<AssistantRow>([
    ...insertAssistant(DB, row),
    selectAssistant(DB, scope, id),
  ]);
  await forgetAssistant(call.env, scope, id);
  const stored = selected?.results[0] ?? row;
  if (inserted?.meta.changes === 0) {
    const isSeen = filter === null || matchesMetadata(JSON.parse(stored.metadata), filter);
    if (body.if_exists !== "do_nothing" || !isSeen) {
      throw new ApiError("conflict", "Assistant already exists");
    }
  }
  return toAssistantJson(stored);
}

export async function patchAssistant(
  call: AgentCall,
  idOrGraph: string,
  body: z.infer<typeof assistantPatchSchema>,
): Promise<Assistant> {
  if (body.graph_id !== undefined) await assertGraphExists(call, body.graph_id);
  const access = await authorize(call, "assistants:update", {
    ...body,
    assistant_id: toAssistantId(idOrGraph),
    metadata: body.metadata ?? {},
  });
  const { metadata = {} } = access;
  const mergesMetadata = body.metadata !== undefined || Object.keys(metadata).length > 0;
  for (let attempt = 0; attempt < MAX_UPDATE_ATTEMPTS; attempt += 1) {
    const current = await findAssistantRow(call, idOrGraph, access);
    if (current === null) throw assistantNotFound();
    const defaults = await defaultsOf(call, current);
    const updates = updateAssistant(
      call.env.DB,
      call.scope,
      current.assistant_id,
      {
        graph_id: body.graph_id,
        name: body.name,
        description: body.description,
        config: toText(body.config ?? defaults?.config),
        context: toText(body.context ?? defaults?.context),
        metadata: mergesMetadata
          ? {
              base: current.metadata,
              next: JSON.stringify({ ...JSON.parse(current.metadata), ...metadata }),
            }
          : undefined,
      },
      access.filter,
      Date.now(),
    );
    const [, updated] = await call.env.DB.batch<AssistantRow>(updates);
    const row = updated?.results[0];
    if (row === undefined) continue;
    await forgetAssistant(call.env, call.scope, row.assistant_id);
    return toAssistantJson(row);
  }
  throw new ApiError("conflict", "Assistant is being changed by other requests");
}

export async function setLatestVersion(
  call: AgentCall,
  idOrGraph: string,
  version: number,
): Promise<Assistant> {
  const assistant_id = toAssistantId(idOrGraph);
  const access = await authorize(call, "assistants:update", {
    assistant_id,
    version,
    metadata: {},
  });
  const restored = restoreVersion(
    call.env.DB,
    call.scope,
    assistant_id,
    version,
    access.filter,
    Date.now(),
  );
  const row = await restored.first<AssistantRow>();
  if (row !== null) {
    await forgetAssistant(call.env, call.scope, assistant_id);
    return toAssistantJson(await ofRevision(call, row));
  }
  const current = await findAssistantRow(call, idOrGraph, access);
  if (current === null) throw assistantNotFound();
  // A default assistant that has just been created has version 1.
  if (current.version === version) return toAssistantJson(current);
  throw new ApiError("not_found", "Assistant version not found");
}

/** Deletes an assistant. With `threads`, also deletes the threads that ran it. Its runs on other threads are kept. */
export async function removeAssistant(
  call: AgentCall,
  idOrGraph: string,
  options: { threads: boolean },
): Promise<void> {
  const { scope } = call;
  const { DB } = call.env;
  const id = toAssistantId(idOrGraph);
  const { filter } = await authorize(call, "assistants:delete", { assistant_id: id });
  // Access is checked once for all threads, before anything is deleted.
  const threads = options.threads
    ? await authorize(call, "threads:delete", { metadata: { assistant_id: id } })
    : null;
  const deletion = deleteAssistant(DB, scope, id, filter);
  const [, deleted] = await DB.batch<{ assistant_id: string }>(deletion);
  if (deleted?.results.length === 0) throw assistantNotFound();
  forgetEnsured(scope);
  await forgetAssistant(call.env, scope, id);
  if (threads !== null) await removeThreadsOf(call, id, threads);
}

export async function listAssistants(
  call: AgentCall,
  search: AssistantSearch,
): Promise<ListedJson> {
  await ensureDefaultAssistants(call);
  const { DB } = call.env;
  const { scope } = call;
  const page = { limit: search.limit ?? 10, offset: search.offset ?? 0 };
  const { metadata, graph_id } = search;
  const access = await authorize(call, "assistants:search", { metadata, graph_id, ...page });
  const filter = toFilter(search, access);
  const order = {
    by: search.sort_by ?? "created_at",
    direction: search.sort_order ?? "desc",
  } as const;
  const found = await searchAssistants(DB, scope, { filter, order, ...page });
  if (found === null) throw tooManyAssistants("metadata");
  const { select } = search;
  const json = await jsonListOf(followed(call, found.rows), (row) => {
    const assistant = toAssistantJson(row);
    return select
      ? Object.fromEntries(select.map((field) => [field, assistant[field]]))
      : assistant;
  });
  return { json, returned: found.returned, total: found.total, page };
}

async function* followed(
  call: AgentCall,
  rows: AsyncIterable<AssistantRow>,
): AsyncGenerator<AssistantRow> {
  for await (const row of rows) yield ofRevision(call, row);
}

export async function countMatchingAssistants(
  call: AgentCall,
  search: Pick<AssistantSearch, "metadata" | "graph_id" | "name">,
): Promise<number> {
  await ensureDefaultAssistants(call);
  const { metadata, graph_id } = search;
  const access = await authorize(call, "assistants:search", { metadata, graph_id });
  const count = await countAssistants(call.env.DB, call.scope, toFilter(search, access));
  if (count === null) throw tooManyAssistants("metadata");
  return count;
}

export async function listVersions(
  call: AgentCall,
  idOrGraph: string,
  search: z.infer<typeof versionsSearchSchema>,
): Promise<ListedJson> {
  const access = await authorize(call, "assistants:read", {
    assistant_id: toAssistantId(idOrGraph),
    metadata: search.metadata,
  });
  const assistant = await findAssistantRow(call, idOrGraph, access);
  if (assistant === null) throw new ApiError("not_found", `Assistant "${idOrGraph}" not found.`);
  const { DB } = call.env;
  const { scope } = call;
  const id = assistant.assistant_id;
  const page = { limit: search.limit ?? 10, offset: search.offset ?? 0 };
  const filter = { metadata: search.metadata ?? undefined, access: access.filter };
  const found = await selectVersions(DB, scope, id, { filter, ...page });
  if (found === null) throw tooManyAssistants("metadata");
  const json = await jsonListOf(found.rows, toAssistantVersionJson);
  return { json, returned: found.returned, total: found.total, page };
}

function tooManyAssistants(field: string): ApiError {
  const msg = "There are too many entries to look at all of them: leave the field out";
  return invalidField(["body", field], msg, "search_too_large");
}

export function assistantNotFound(): ApiError {
  return new ApiError("not_found", "Assistant not found");
}

async function removeThreadsOf(
  call: AgentCall,
  assistantId: string,
  access: Access,
): Promise<void> {
  const { env, scope } = call;
  for (const { database } of threadDatabases(env)) {
    const steps = threadIdsOfAssistant(database, scope, assistantId, access.filter);
    for await (const ids of steps) {
      await mapLimited(ids, THREADS_AT_ONCE, async (id) => {
        if (await threadWith(call, id, access).remove()) return;
        // With a filter, the thread may exist but no longer match it, so its row is kept.
        if (access.filter !== null) return;
        // The thread no longer exists, and only its row is left.
        await removeFromIndex(env, scope, [id]);
      });
    }
  }
}

function toFilter(
  search: Pick<AssistantSearch, "metadata" | "graph_id" | "name">,
  access: Access,
): AssistantFilter {
  return {
    access: access.filter,
    metadata: search.metadata ?? undefined,
    graph_id: search.graph_id ?? undefined,
    name: search.name ?? undefined,
  };
}

function toText(value: unknown): string | undefined {
  return value === undefined ? undefined : JSON.stringify(value);
}
