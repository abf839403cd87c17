import { and, asc, desc, eq, inArray, isNotNull, isNull, type SQL, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { deleteProjectFeedback } from "./feedback-repo.ts";
import { containsJson, type JsonFilter } from "./json-containment.ts";
import type { Sql } from "./sql.ts";
import { projects } from "./tracing-schema.ts";

export type ProjectRow = typeof projects.$inferSelect;

/** What is undefined does not restrict; all must hold. */
export type ProjectFilter = {
  ids?: readonly string[] | undefined;
  name?: string | undefined;
  /** A part of the name, whatever its case. */
  nameContains?: string | undefined;
  /** Contained in `extra.metadata`. */
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

/** What is undefined stays as it is; `extra` is JSON text. */
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

/** The row, or undefined when its id or its name is taken. */
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

export async function listProjects(
  db: D1Database,
  workspaceId: string,
  filter: ProjectFilter,
  page: ProjectPage,
): Promise<ProjectRow[]> {
  const direction = page.descending ? desc : asc;
  return drizzle(db)
    .select()
    .from(projects)
    .where(and(isVisible(workspaceId), ...conditions(filter)))
    .orderBy(direction(projects[page.sortBy]), direction(projects.id))
    .limit(page.limit)
    .offset(page.offset);
}

/** The changed row; undefined when there is no such project, or another one has the new name. */
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
      : sql`NOT EXISTS (SELECT 1 FROM projects AS other WHERE other.workspace_id = ${workspaceId}
          AND other.name = ${change.name} AND other.deleted_at IS NULL AND other.id <> ${id})`;
  return drizzle(db)
    .update(projects)
    .set({ ...change, updated_at: now })
    .where(and(isProject(workspaceId, id), nameIsFree))
    .returning()
    .get();
}

/** From then on they are invisible and their names free. Returns the ids of those there were. */
export async function markProjectsDeleted(
  db: D1Database,
  workspaceId: string,
  ids: readonly string[],
  now: number,
): Promise<string[]> {
  const rows = await drizzle(db)
    .update(projects)
    .set({ deleted_at: now, updated_at: now })
    .where(and(isVisible(workspaceId), isAmong(projects.id, ids)))
    .returning({ id: projects.id });
  return rows.map(({ id }) => id);
}

/** Of all workspaces, the longest deleted first. */
export async function listDeletedProjects(db: D1Database, limit: number): Promise<ProjectRow[]> {
  return drizzle(db)
    .select()
    .from(projects)
    .where(isNotNull(projects.deleted_at))
    .orderBy(asc(projects.deleted_at))
    .limit(limit);
}

/** Removes a deleted project for good, with its feedback. */
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

function conditions(filter: ProjectFilter): (SQL | undefined)[] {
  const { ids, name, nameContains, metadata, hasReferenceDataset, referenceDatasetIds } = filter;
  return [
    ids === undefined ? undefined : isAmong(projects.id, ids),
    name === undefined ? undefined : eq(projects.name, name),
    // LIKE would need escapes, and D1 limits its patterns to 50 bytes.
    nameContains === undefined
      ? undefined
      : sql`instr(lower(${projects.name}), lower(${nameContains})) > 0`,
    metadata === undefined ? undefined : toDrizzle(containsJson(METADATA, metadata)),
    hasReferenceDataset === undefined
      ? undefined
      : (hasReferenceDataset ? isNotNull : isNull)(projects.reference_dataset_id),
    referenceDatasetIds === undefined
      ? undefined
      : isAmong(projects.reference_dataset_id, referenceDatasetIds),
  ];
}

const METADATA = `CASE json_type("projects"."extra", '$.metadata') WHEN 'object'
  THEN json_extract("projects"."extra", '$.metadata') ELSE '{}' END`;

function isAmong(
  column: typeof projects.id | typeof projects.reference_dataset_id,
  values: readonly string[],
): SQL {
  return inArray(column, sql`(SELECT value FROM json_each(${JSON.stringify(values)}))`);
}

function toDrizzle({ text, params }: Sql): SQL {
  const [first = "", ...rest] = text.split("?");
  const pieces = rest.flatMap((piece, index) => [sql`${params[index]}`, sql.raw(piece)]);
  return sql.join([sql.raw(first), ...pieces]);
}
