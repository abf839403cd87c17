import { and, asc, eq, inArray, isNotNull, isNull, type SQL, sql as drizzleSql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import {
  findFirst,
  findPage,
  type ScannedRow,
  readFound,
  type Scan,
  type ScanOrder,
} from "./bounded-scan.ts";
import { deleteProjectFeedback } from "./feedback-repo.ts";
import { containsJson, filterSize, type JsonFilter } from "./json-filter-sql.ts";
import { jsonValues } from "./json-values.ts";
import { allOf, isAmong, sql } from "./sql.ts";
import { projects } from "./tracing-schema.ts";

export type ProjectRow = typeof projects.$inferSelect;

/** A filter whose conditions must all hold. A field that is undefined adds no condition. */
export type ProjectFilter = {
  ids?: readonly string[] | undefined;
  name?: string | undefined;
  /** A part of the name, compared without case. */
  nameContains?: string | undefined;
  /** Must be contained in `extra.metadata`. */
  metadata?: JsonFilter | undefined;
  hasReferenceDataset?: boolean | undefined;
  referenceDatasetIds?: readonly string[] | undefined;
};

export type ProjectPage = {
  sortBy: "name" | "start_time";
  descending: boolean;
  limit: number;
  offset: number;
};

/**
 * `order` is the value that the page is sorted by. `bytes` is the row's approximate size when it is read whole.
 */
export type FoundProject = { id: string } & Pick<ScannedRow, "order" | "bytes">;

/** A field that is undefined keeps its stored value. `extra` is JSON text. */
export type ProjectChange = {
  [
    Column in
      | "name"
      | "description"
      | "start_time"
      | "end_time"
      | "extra"
      | "default_dataset_id"
      | "reference_dataset_id"
      | "trace_tier"
  ]?: ProjectRow[Column] | undefined;
};

/** Inserts a project. Returns the row, or undefined when its id or its name is taken. */
export async function insertProject(
  db: D1Database,
  row: ProjectRow,
): Promise<ProjectRow | undefined> {
  return drizzle(db).insert(projects).values(row).onConflictDoNothing().returning().get();
}

export async function selectProject(
  db: D1Database,
  workspaceId: string,
  id: string,
): Promise<ProjectRow | undefined> {
  return drizzle(db).select().from(projects).where(isProject(workspaceId, id)).get();
}

export async function selectProjectByName(
  db: D1Database,
  workspaceId: string,
  name: string,
): Promise<ProjectRow | undefined> {
  return drizzle(db)
    .select()
    .from(projects)
    .where(and(isVisible(workspaceId), eq(projects.name, name)))
    .get();
}

/** Finds a page of projects; null when the scan would have to look at too many rows. */
export async function findProjects(
  db: D1Database,
  workspaceId: string,
  filter: ProjectFilter,
  { sortBy, descending, ...page }: ProjectPage,
): Promise<FoundProject[] | null> {
  const direction = descending ? "desc" : "asc";
  const scan = projectScan(workspaceId, filter);
  const found =
    filter.ids === undefined
      ? await findFirst(
          db,
          { ...scan, ...alongIndex(workspaceId, filter, sortBy, direction) },
          page,
        )
      : await findPage(db, { ...scan, orderBy: sortBy }, { direction, ...page });
  if (found === null) return null;
  return ("page" in found ? found.page : found).map(({ key, order, bytes }) => ({
    id: String(key),
    order,
    bytes,
  }));
}

/** Reads found projects in the same order, as they are consumed. */
export function readProjects(
  db: D1Database,
  workspaceId: string,
  found: readonly FoundProject[],
): AsyncIterable<ProjectRow> {
  const page = found.map(({ id, ...rest }) => ({ key: id, ...rest }));
  return readFound<ProjectRow>(db, projectScan(workspaceId, {}), page);
}

/** Returns the changed row; undefined when there is no such project, or another project has the new name. */
export async function updateProject(
  db: D1Database,
  workspaceId: string,
  id: string,
  change: ProjectChange,
  now: number,
): Promise<ProjectRow | undefined> {
  const nameIsFree =
    change.name === undefined
      ? undefined
      : drizzleSql`NOT EXISTS (SELECT 1 FROM projects AS other WHERE other.workspace_id = ${workspaceId}
          AND other.name = ${change.name} AND other.deleted_at IS NULL AND other.id <> ${id})`;
  return drizzle(db)
    .update(projects)
    .set({ ...change, updated_at: now })
    .where(and(isProject(workspaceId, id), nameIsFree))
    .returning()
    .get();
}

/** Returns false when the stored value is no longer `from`, or the project is gone. */
export async function replaceBucketRaises(
  db: D1Database,
  workspaceId: string,
  id: string,
  { from, to }: { from: string | null; to: string },
): Promise<boolean> {
  const changed = await drizzle(db)
    .update(projects)
    .set({ bucket_raises: to })
    .where(and(isProject(workspaceId, id), drizzleSql`${projects.bucket_raises} IS ${from}`))
    .returning({ id: projects.id });
  return changed.length > 0;
}

/** Marks projects as deleted, which hides them and frees their names. Returns the ids of those that existed. */
export async function markProjectsDeleted(
  db: D1Database,
  workspaceId: string,
  ids: readonly string[],
  now: number,
): Promise<string[]> {
  const rows = await drizzle(db)
    .update(projects)
    .set({ deleted_at: now, updated_at: now })
    .where(and(isVisible(workspaceId), inArray(projects.id, jsonValues(ids))))
    .returning({ id: projects.id });
  return rows.map(({ id }) => id);
}

/** Returns deleted projects of all workspaces, longest deleted first. */
export async function listDeletedProjects(db: D1Database, limit: number): Promise<ProjectRow[]> {
  return drizzle(db)
    .select()
    .from(projects)
    .where(isNotNull(projects.deleted_at))
    .orderBy(asc(projects.deleted_at))
    .limit(limit);
}

/** Removes a deleted project permanently, with its feedback. */
export async function purgeProject(db: D1Database, workspaceId: string, id: string): Promise<void> {
  await deleteProjectFeedback(db, workspaceId, id);
  await drizzle(db)
    .delete(projects)
    .where(
      and(
        eq(projects.workspace_id, workspaceId),
        eq(projects.id, id),
        isNotNull(projects.deleted_at),
      ),
    );
}

function isVisible(workspaceId: string): SQL | undefined {
  return and(eq(projects.workspace_id, workspaceId), isNull(projects.deleted_at));
}

function isProject(workspaceId: string, id: string): SQL | undefined {
  return and(isVisible(workspaceId), eq(projects.id, id));
}

function projectScan(workspaceId: string, filter: ProjectFilter): Scan {
  const { ids, nameContains, metadata, hasReferenceDataset, referenceDatasetIds } = filter;
  const conditions = [sql("deleted_at IS NULL")];
  if (filter.name !== undefined) conditions.push(sql("name = ?", filter.name));
  if (nameContains !== undefined) {
    // LIKE would need escapes, and D1 limits its patterns to 50 bytes.
    conditions.push(sql("instr(lower(name), lower(?)) > 0", nameContains));
  }
  if (metadata !== undefined) conditions.push(containsJson(METADATA, metadata));
  if (hasReferenceDataset !== undefined) {
    conditions.push(sql(`reference_dataset_id IS ${hasReferenceDataset ? "NOT " : ""}NULL`));
  }
  if (referenceDatasetIds !== undefined) {
    conditions.push(isAmong("reference_dataset_id", referenceDatasetIds));
  }
  return {
    table: "projects",
    rows: allOf([
      sql("workspace_id = ?", workspaceId),
      ...(ids === undefined ? [] : [isAmong("id", ids)]),
    ]),
    key: "id",
    condition: allOf(conditions),
    comparisons: filterSize(metadata ?? {}).size,
    // SQLite reads through these columns to reach the ones behind them.
    reads: LONG_COLUMNS,
    weighs: LONG_COLUMNS,
    orderBy: "nth",
  };
}

function alongIndex(
  workspaceId: string,
  { name }: ProjectFilter,
  sortBy: ProjectPage["sortBy"],
  direction: ScanOrder["direction"],
): Pick<Scan, "along" | "rows" | "orderBy"> {
  const rows = sql("workspace_id = ?", workspaceId);
  if (sortBy === "start_time" && name === undefined) {
    const along = { index: "projects_by_start", columns: ["start_time", "rowid"], direction };
    return { along, rows, orderBy: "start_time" };
  }
  const named = name === undefined ? [] : [sql("name = ?", name)];
  return {
    along: { index: "projects_by_name", columns: ["name"], direction },
    rows: allOf([rows, sql("deleted_at IS NULL"), ...named]),
    orderBy: sortBy,
  };
}

const LONG_COLUMNS = ["description", "extra"];

const METADATA = `CASE json_type(extra, '$.metadata') WHEN 'object'
  THEN json_extract(extra, '$.metadata') ELSE '{}' END`;
