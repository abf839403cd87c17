import {
  insertProject,
  type ProjectRow,
  selectProject,
  selectProjectByName,
} from "../../db/projects-repo.ts";
import { newProject } from "./new-project.ts";

/** How long another isolate's change may go unnoticed here. */
const TTL_MS = 10_000;

const MAX_ENTRIES = 10_000;

/** How often a name that is taken, but gone when it is read, is tried again. */
const MAX_ATTEMPTS = 4;

type Entry = { row: ProjectRow; expiresAt: number };

/** The oldest entry first; by `idKey`. */
const entries = new Map<string, Entry>();

/** `nameKey` to `idKey`; the entry there tells whether that is still its name. */
const idKeys = new Map<string, string>();

/** Every request that brings runs asks for its project: mostly answered from memory. */
export async function findProject(
  db: D1Database,
  workspaceId: string,
  id: string,
): Promise<ProjectRow | null> {
  const cached = read(idKey(workspaceId, id));
  if (cached !== null) return cached;
  const row = await selectProject(db, workspaceId, id);
  return row === undefined ? null : remember(row);
}

/** The project of that name, created when there is none; at once from several isolates is fine. */
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

/** To be called whenever the project was changed or deleted, or turned out to be. */
export function forgetProject(workspaceId: string, { id }: Pick<ProjectRow, "id">): void {
  entries.delete(idKey(workspaceId, id));
}

function read(key: string): ProjectRow | null {
  const entry = entries.get(key);
  return entry === undefined || entry.expiresAt <= Date.now() ? null : entry.row;
}

function readByName(workspaceId: string, name: string): ProjectRow | null {
  const key = idKeys.get(nameKey(workspaceId, name));
  const row = key === undefined ? null : read(key);
  return row?.name === name ? row : null;
}

function remember(row: ProjectRow): ProjectRow {
  const key = idKey(row.workspace_id, row.id);
  entries.delete(key);
  entries.set(key, { row, expiresAt: Date.now() + TTL_MS });
  idKeys.set(nameKey(row.workspace_id, row.name), key);
  if (entries.size > MAX_ENTRIES || idKeys.size > MAX_ENTRIES) dropOldest();
  return row;
}

function dropOldest(): void {
  for (const map of [entries, idKeys]) {
    for (const key of map.keys()) {
      if (map.size <= MAX_ENTRIES) break;
      map.delete(key);
    }
  }
}

function idKey(workspaceId: string, id: string): string {
  return `${workspaceId}/${id}`;
}

function nameKey(workspaceId: string, name: string): string {
  return `${workspaceId}/${name}`;
}
