import { metadataFilterSize, type Visibility } from "../lib/metadata-filter.ts";
import type { Scope } from "../lib/scope.ts";
import { countFound, findPage, type FoundPage, readFound, type Scan } from "./bounded-scan.ts";
import { containsJson, filterSize, type JsonFilter, visibleTo } from "./json-filter-sql.ts";
import type { assistants, assistantVersions } from "./schema.ts";
import { allOf, type Sql, sql } from "./sql.ts";

export type AssistantRow = typeof assistants.$inferSelect;

export type AssistantVersionRow = typeof assistantVersions.$inferSelect;

export type AssistantFilter = {
  access: Visibility;
  metadata?: JsonFilter | undefined;
  graph_id?: string | undefined;
  /** A part of the name, compared without case. */
  name?: string | undefined;
};

export type AssistantOrder = {
  by: "assistant_id" | "graph_id" | "name" | "created_at" | "updated_at";
  direction: "asc" | "desc";
};

/** JSON columns are text. A field that is undefined keeps its stored value. */
export type AssistantChange = {
  graph_id: string | undefined;
  name: string | undefined;
  description: string | undefined;
  config: string | undefined;
  context: string | undefined;
  /**
   * The merged metadata and the metadata it was merged into. If the stored metadata differs from `base`, nothing
   * is changed.
   */
  metadata: { next: string; base: string } | undefined;
};

const CONTENT = ["graph_id", "name", "description", "config", "context", "metadata"] as const;

const VERSION_COLUMNS = [
  "workspace_id",
  "deployment_id",
  "assistant_id",
  "version",
  ...CONTENT,
  "created_at",
] as const;

const COLUMNS = [...VERSION_COLUMNS, "updated_at"] as const;

const KEY = "workspace_id = ? AND deployment_id = ? AND assistant_id = ?";

/** Inserts the assistant and its first version, unless the id is taken. */
export function insertAssistant(db: D1Database, row: AssistantRow): D1PreparedStatement[] {
  return [
    insertRow(db, "assistants", COLUMNS, row),
    insertRow(db, "assistant_versions", VERSION_COLUMNS, row),
  ];
}

function insertRow(
  db: D1Database,
  table: string,
  columns: readonly (keyof AssistantRow)[],
  row: AssistantRow,
): D1PreparedStatement {
  const places = columns.map(() => "?").join(", ");
  return db
    .prepare(
      `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${places}) ON CONFLICT DO NOTHING`,
    )
    .bind(...columns.map((column) => row[column]));
}

export function selectAssistant(db: D1Database, scope: Scope, id: string): D1PreparedStatement {
  return db.prepare(`SELECT * FROM assistants WHERE ${KEY}`).bind(...keyOf(scope, id));
}

/**
 * Appends a version with the changed assistant and makes it current. The statements must be sent as one batch; the
 * second one returns the changed row, or nothing when nothing was changed.
 */
export function updateAssistant(
  db: D1Database,
  scope: Scope,
  id: string,
  change: AssistantChange,
  access: Visibility,
  now: number,
): D1PreparedStatement[] {
  const key = keyOf(scope, id);
  const conditions = [sql(KEY, ...key), ...visibleTo(access)];
  if (change.metadata !== undefined) conditions.push(sql("metadata = ?", change.metadata.base));
  const { text: where, params: guard } = allOf(conditions);
  const content = CONTENT.map((column) => `coalesce(?, ${column})`).join(", ");
  const values = [
    change.graph_id,
    change.name,
    change.description,
    change.config,
    change.context,
    change.metadata?.next,
  ].map((value) => value ?? null);
  return [
    db
      .prepare(
        `INSERT INTO assistant_versions (${VERSION_COLUMNS.join(", ")})
         SELECT workspace_id, deployment_id, assistant_id,
           (SELECT max(version) + 1 FROM assistant_versions WHERE ${KEY}), ${content}, ?
         FROM assistants WHERE ${where}`,
      )
      .bind(...key, ...values, now, ...guard),
    db
      .prepare(
        `UPDATE assistants SET (version, ${CONTENT.join(", ")}) =
           (SELECT version, ${CONTENT.join(", ")} FROM assistant_versions WHERE ${KEY}
            ORDER BY version DESC LIMIT 1),
           updated_at = ?
         WHERE ${where} RETURNING *`,
      )
      .bind(...key, now, ...guard),
  ];
}

/** Makes an earlier version current again. Returns the row, or nothing when there is no such version. */
export function restoreVersion(
  db: D1Database,
  scope: Scope,
  id: string,
  version: number,
  access: Visibility,
  now: number,
): D1PreparedStatement {
  const key = keyOf(scope, id);
  // The caller needs access to the assistant both as it is and as it would become.
  const seen = allOf(visibleTo(access));
  return db
    .prepare(
      `UPDATE assistants SET (version, ${CONTENT.join(", ")}) =
         (SELECT version, ${CONTENT.join(", ")} FROM assistant_versions
          WHERE ${KEY} AND version = ?),
         updated_at = ?
       WHERE ${KEY} AND ${seen.text} AND EXISTS
         (SELECT 1 FROM assistant_versions WHERE ${KEY} AND version = ? AND ${seen.text})
       RETURNING *`,
    )
    .bind(...key, version, now, ...key, ...seen.params, ...key, version, ...seen.params);
}

/** Deletes an assistant with its versions. The second statement returns the id if the assistant existed. */
export function deleteAssistant(
  db: D1Database,
  scope: Scope,
  id: string,
  access: Visibility,
): D1PreparedStatement[] {
  const key = keyOf(scope, id);
  const { text, params } = allOf([sql(KEY, ...key), ...visibleTo(access)]);
  return [
    db
      .prepare(
        `DELETE FROM assistant_versions
         WHERE ${KEY} AND EXISTS (SELECT 1 FROM assistants WHERE ${text})`,
      )
      .bind(...key, ...params),
    db.prepare(`DELETE FROM assistants WHERE ${text} RETURNING assistant_id`).bind(...params),
  ];
}

/** Deletes all assistants of a deployment, with their versions. */
export async function deleteAssistantsOf(db: D1Database, scope: Scope): Promise<void> {
  const where = "WHERE workspace_id = ? AND deployment_id = ?";
  const key = [scope.workspaceId, scope.deploymentId];
  await db.batch([
    db.prepare(`DELETE FROM assistant_versions ${where}`).bind(...key),
    db.prepare(`DELETE FROM assistants ${where}`).bind(...key),
  ]);
}

/** A page of `returned` rows, fetched as they are consumed, with the total number of matching rows. */
type Listed<Row> = { rows: AsyncIterable<Row>; returned: number; total: number };

/** Returns null when the scan would have to look at too many rows. */
export async function searchAssistants(
  db: D1Database,
  scope: Scope,
  query: { filter: AssistantFilter; order: AssistantOrder; limit: number; offset: number },
): Promise<Listed<AssistantRow> | null> {
  const { filter, order, ...page } = query;
  const scan = { ...assistantScan(scope, filter), orderBy: order.by };
  const found = await findPage(db, scan, { direction: order.direction, ...page });
  return found === null ? null : listed(db, scan, found);
}

/** Returns null when the scan would have to look at too many rows. */
export async function countAssistants(
  db: D1Database,
  scope: Scope,
  filter: AssistantFilter,
): Promise<number | null> {
  return countFound(db, assistantScan(scope, filter));
}

type VersionFilter = { metadata: JsonFilter | undefined; access: Visibility };

/** Returns a page of versions, newest first; null when the scan would have to look at too many rows. */
export async function selectVersions(
  db: D1Database,
  scope: Scope,
  id: string,
  query: { filter: VersionFilter; limit: number; offset: number },
): Promise<Listed<AssistantVersionRow> | null> {
  const { filter, ...page } = query;
  const scan: Scan = {
    table: "assistant_versions",
    rows: sql(KEY, ...keyOf(scope, id)),
    key: "version",
    orderBy: "version",
    ...metadataCondition(filter, []),
  };
  const found = await findPage(db, scan, { direction: "desc", ...page });
  return found === null ? null : listed(db, scan, found);
}

function assistantScan(scope: Scope, { graph_id, name, ...filter }: AssistantFilter): Scan {
  const conditions: Sql[] = [];
  if (graph_id !== undefined) conditions.push(sql("graph_id = ?", graph_id));
  if (name !== undefined) {
    // LIKE would need escapes, and D1 limits its patterns to 50 bytes.
    conditions.push(sql("instr(lower(name), lower(?)) > 0", name));
  }
  const { workspaceId, deploymentId } = scope;
  return {
    table: "assistants",
    rows: sql("workspace_id = ? AND deployment_id = ?", workspaceId, deploymentId),
    key: "assistant_id",
    orderBy: "NULL",
    ...metadataCondition(filter, conditions),
  };
}

/** Returns the parts of a scan over rows with metadata: the given conditions, access and the metadata filter. */
function metadataCondition(
  { access, metadata }: Pick<AssistantFilter, "access" | "metadata">,
  others: Sql[],
): Pick<Scan, "condition" | "comparisons" | "reads" | "weighs"> {
  const conditions = [...others, ...visibleTo(access)];
  if (metadata !== undefined) conditions.push(containsJson("metadata", metadata));
  return {
    condition: allOf(conditions),
    comparisons:
      (access === null ? 0 : metadataFilterSize(access)) + filterSize(metadata ?? {}).size,
    reads: access === null && metadata === undefined ? [] : ["metadata"],
    weighs: ["config", "context", "metadata", "description"],
  };
}

function listed<Row>(db: D1Database, scan: Scan, { page, total }: FoundPage): Listed<Row> {
  return { rows: readFound<Row>(db, scan, page), returned: page.length, total };
}

function keyOf(scope: Scope, id: string): [string, string, string] {
  return [scope.workspaceId, scope.deploymentId, id];
}
