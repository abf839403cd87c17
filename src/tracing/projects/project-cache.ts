import {
  insertProject,
  type ProjectChange,
  type ProjectRow,
  selectProject,
  selectProjectByName,
} from "../../db/projects-repo.ts";
import { isolateCache } from "../../lib/isolate-cache.ts";
import { ApiError } from "../../lib/api-error.ts";
import type { TraceTier } from "../../db/tracing-schema.ts";

/** The tier of traces, unless their project has another one. */
const DEFAULT_TRACE_TIER: TraceTier = "shortlived";

/** Maximum attempts at a name that is taken when it is created, but gone when it is read. */
const MAX_ATTEMPTS = 4;

/** Cached rows, keyed by `idKey`. A change made in another isolate can go unnoticed for up to ten seconds. */
const projects = isolateCache<string, ProjectRow>({ maxEntries: 10_000, ttlMs: 10_000 });

/** Maps `nameKey` to `idKey`. The row found there tells whether the project still has that name. */
const idKeys = isolateCache<string, string>({ maxEntries: 10_000 });

/** Returns a project, or null. Every request that brings runs needs its project, so most are served from memory. */
export async function findProject(
  db: D1Database,
  workspaceId: string,
  id: string,
): Promise<ProjectRow | null> {
  const cached = projects.get(idKey(workspaceId, id));
  if (cached !== undefined) return cached;
  const row = await selectProject(db, workspaceId, id);
  return row === undefined ? null : remember(row);
}

/** Returns a project of the workspace. Throws a 404 if it has none with that id. `noun` is the API's word for it. */
export async function requireProject(
  db: D1Database,
  workspaceId: string,
  id: string,
  noun: "Project" | "Session" = "Project",
): Promise<ProjectRow> {
  const project = await findProject(db, workspaceId, id);
  if (project === null) throw new ApiError("not_found", `${noun} ${id} not found`);
  return project;
}

/** Returns the project of that name, and creates it if there is none. Several isolates may do so at once. */
export async function ensureProject(
  db: D1Database,
  workspaceId: string,
  name: string,
): Promise<ProjectRow> {
  const cached = readByName(workspaceId, name);
  if (cached !== null) return cached;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const row =
      (await selectProjectByName(db, workspaceId, name)) ??
      (await insertProject(db, newProject(workspaceId, { name }, Date.now())));
    if (row !== undefined) return remember(row);
  }
  throw new Error(`project ${JSON.stringify(name)} is being created and deleted all the time`);
}

/** Must be called whenever the project was changed or deleted, or is found to have been. */
export function forgetProject(workspaceId: string, { id }: Pick<ProjectRow, "id">): void {
  projects.delete(idKey(workspaceId, id));
}

function readByName(workspaceId: string, name: string): ProjectRow | null {
  const key = idKeys.get(nameKey(workspaceId, name));
  const row = key === undefined ? undefined : projects.get(key);
  return row?.name === name ? row : null;
}

function remember(row: ProjectRow): ProjectRow {
  const key = idKey(row.workspace_id, row.id);
  projects.set(key, row);
  idKeys.set(nameKey(row.workspace_id, row.name), key);
  return row;
}

function idKey(workspaceId: string, id: string): string {
  return `${workspaceId}/${id}`;
}

function nameKey(workspaceId: string, name: string): string {
  return `${workspaceId}/${name}`;
}

/** Returns the first row of a project; members that are undefined get defaults. `now` is in epoch milliseconds. */
export function newProject(
  workspaceId: string,
  given: ProjectChange & { name: string; id?: string | undefined },
  now: number,
): ProjectRow {
  return {
    id: given.id ?? crypto.randomUUID(),
    workspace_id: workspaceId,
    name: given.name,
    description: given.description ?? null,
    start_time: given.start_time ?? now,
    end_time: given.end_time ?? null,
    extra: given.extra ?? null,
    default_dataset_id: given.default_dataset_id ?? null,
    reference_dataset_id: given.reference_dataset_id ?? null,
    trace_tier: given.trace_tier ?? DEFAULT_TRACE_TIER,
    buckets: 1,
    bucket_raises: null,
    created_at: now,
    updated_at: now,
    deleted_at: null,
  };
}
