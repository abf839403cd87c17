import type { MetadataFilter } from "../lib/metadata-filter.ts";
import type { Scope } from "../lib/scope.ts";
import { containsJson, type JsonFilter } from "./json-containment.ts";
import { metadataMatches } from "./metadata-filter-sql.ts";
import type { assistants, assistantVersions } from "./schema.ts";
import { allOf, type Sql, sql } from "./sql.ts";

export type AssistantRow = typeof assistants.$inferSelect;

export type AssistantVersionRow = typeof assistantVersions.$inferSelect;

/** What whoever asks may see or change at all; null for anything. */
type Access = MetadataFilter | null;

export type AssistantFilter = {
  access: Access;
  metadata?: JsonFilter | undefined;
  graph_id?: string | undefined;
  /** A part of the name, whatever its case. */
  name?: string | undefined;
};

export type AssistantOrder = {
  by: "assistant_id" | "graph_id" | "name" | "created_at" | "updated_at";
  direction: "asc" | "desc";
};

/** JSON columns as text; what is undefined stays as it is. */
export type AssistantChange = {
  graph_id: string | undefined;
  name: string | undefined;
  description: string | undefined;
  config: string | undefined;
  context: string | undefined;
  /** The merged metadata, and what it was merged into: when that changed meanwhile, nothing is. */
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

/** The row and its first version, unless the id is taken. */
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
 * Appends a version that holds the changed assistant, and makes it current. To be sent as one batch;
 * the second statement returns the row as it is then, or nothing when nothing was changed.
 */
export function updateAssistant(
  db: D1Database,
  scope: Scope,
  id: string,
  change: AssistantChange,
  access: Access,
  now: number,
): D1PreparedStatement[] {
  const key = keyOf(scope, id);
  const conditions = [sql(KEY, ...key), ...accessTo(access)];
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

/** Makes an earlier version current again; returns the row, or nothing without that version. */
export function restoreVersion(
  db: D1Database,
  scope: Scope,
  id: string,
  version: number,
  access: Access,
  now: number,
): D1PreparedStatement {
  const key = keyOf(scope, id);
  // Of the assistant as it is, and as it would become.
  const seen = allOf(accessTo(access));
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

/** The second statement returns the id when there was such an assistant. */
export function deleteAssistant(
  db: D1Database,
  scope: Scope,
  id: string,
  access: Access,
): D1PreparedStatement[] {
  const key = keyOf(scope, id);
  const { text, params } = allOf([sql(KEY, ...key), ...accessTo(access)]);
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

/** All of a deployment, with their versions. */
export async function deleteAssistantsOf(db: D1Database, scope: Scope): Promise<void> {
  const where = "WHERE workspace_id = ? AND deployment_id = ?";
  const key = [scope.workspaceId, scope.deploymentId];
  await db.batch([
    db.prepare(`DELETE FROM assistant_versions ${where}`).bind(...key),
    db.prepare(`DELETE FROM assistants ${where}`).bind(...key),
  ]);
}

export function searchAssistants(
  db: D1Database,
  scope: Scope,
  query: { filter: AssistantFilter; order: AssistantOrder; limit: number; offset: number },
): D1PreparedStatement {
  const where = condition(scope, query.filter);
  const { by, direction } = query.order;
  const tieBreak = by === "assistant_id" ? "" : `, assistant_id ${direction}`;
  return db
    .prepare(
      `SELECT * FROM assistants WHERE ${where.text}
       ORDER BY ${by} ${direction}${tieBreak} LIMIT ? OFFSET ?`,
    )
    .bind(...where.params, query.limit, query.offset);
}

export function countAssistants(
  db: D1Database,
  scope: Scope,
  filter: AssistantFilter,
): D1PreparedStatement {
  const where = condition(scope, filter);
  return db
    .prepare(`SELECT count(*) AS total FROM assistants WHERE ${where.text}`)
    .bind(...where.params);
}

type VersionFilter = { metadata: JsonFilter | undefined; access: Access };

/** Newest first. */
export function selectVersions(
  db: D1Database,
  scope: Scope,
  id: string,
  query: { filter: VersionFilter; limit: number; offset: number },
): D1PreparedStatement {
  const where = versionsWhere(scope, id, query.filter);
  return db
    .prepare(
      `SELECT * FROM assistant_versions WHERE ${where.text}
       ORDER BY version DESC LIMIT ? OFFSET ?`,
    )
    .bind(...where.params, query.limit, query.offset);
}

export function countVersions(
  db: D1Database,
  scope: Scope,
  id: string,
  filter: VersionFilter,
): D1PreparedStatement {
  const where = versionsWhere(scope, id, filter);
  return db
    .prepare(`SELECT count(*) AS total FROM assistant_versions WHERE ${where.text}`)
    .bind(...where.params);
}

function versionsWhere(scope: Scope, id: string, { metadata, access }: VersionFilter): Sql {
  const conditions = [sql(KEY, ...keyOf(scope, id)), ...accessTo(access)];
  if (metadata !== undefined) conditions.push(containsJson("metadata", metadata));
  return allOf(conditions);
}

function condition(scope: Scope, filter: AssistantFilter): Sql {
  const conditions = [
    sql("workspace_id = ? AND deployment_id = ?", scope.workspaceId, scope.deploymentId),
  ];
  conditions.push(...accessTo(filter.access));
  if (filter.graph_id !== undefined) conditions.push(sql("graph_id = ?", filter.graph_id));
  if (filter.name !== undefined) {
    // LIKE would need escapes, and D1 limits its patterns to 50 bytes.
    conditions.push(sql("instr(lower(name), lower(?)) > 0", filter.name));
  }
  if (filter.metadata !== undefined) conditions.push(containsJson("metadata", filter.metadata));
  return allOf(conditions);
}

function accessTo(access: Access): Sql[] {
  return access === null ? [] : [metadataMatches("metadata", access)];
}

function keyOf(scope: Scope, id: string): [string, string, string] {
  return [scope.workspaceId, scope.deploymentId, id];
}
