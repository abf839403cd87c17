import { sql } from "drizzle-orm";
import {
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";

/** Deployments, their revisions, and the sources that wait to be deployed. Times are epoch milliseconds. */

export const SOURCES = ["github", "internal_source", "internal_template"] as const;

export type DeploymentSource = (typeof SOURCES)[number];

export const DEPLOYMENT_STATUSES = ["READY", "AWAITING_DELETE"] as const;

/** They are in the order in which a rollout passes them. */
export const UNFINISHED_REVISION_STATUSES = [
  "CREATING",
  "QUEUED",
  "AWAITING_BUILD",
  "BUILDING",
  "AWAITING_DEPLOY",
  "DEPLOYING",
] as const;

export const ENDED_REVISION_STATUSES = [
  "CREATE_FAILED",
  "BUILD_FAILED",
  "DEPLOY_FAILED",
  "DEPLOYED",
  "SKIPPED",
  "INTERRUPTED",
] as const;

export const REVISION_STATUSES = [
  ...UNFINISHED_REVISION_STATUSES,
  ...ENDED_REVISION_STATUSES,
] as const;

export type RevisionStatus = (typeof REVISION_STATUSES)[number];

export const deployments = sqliteTable(
  "deployments",
  {
    workspace_id: text().notNull(),
    id: text().notNull(),
    /** Never changes: the tracing project has it, too. */
    name: text().notNull(),
    display_name: text(),
    /** What names the deployment in its URL; unique on the installation. */
    slug: text().notNull(),
    source: text({ enum: SOURCES }).notNull(),
    /** JSON object, as the API takes it. */
    source_config: text().notNull(),
    status: text({ enum: DEPLOYMENT_STATUSES }).notNull(),
    /** The newest one. */
    latest_revision_id: text().notNull(),
    /** The one that serves; null until the first is deployed. */
    active_revision_id: text(),
    /** Whether its traces go, too, when it is deleted. */
    deletes_project: integer({ mode: "boolean" }).notNull(),
    created_at: integer().notNull(),
    updated_at: integer().notNull(),
    /** When what it had was removed: from then on it is gone for everybody. */
    purged_at: integer(),
  },
  (table) => [
    primaryKey({ columns: [table.workspace_id, table.id] }),
    uniqueIndex("deployments_by_id").on(table.id),
    uniqueIndex("deployments_by_name")
      .on(table.workspace_id, table.name)
      .where(sql`purged_at IS NULL`),
    uniqueIndex("deployments_by_slug")
      .on(table.slug)
      .where(sql`purged_at IS NULL`),
    index("deployments_to_delete")
      .on(table.updated_at)
      .where(sql`status = 'AWAITING_DELETE'`),
  ],
);

export const revisions = sqliteTable(
  "revisions",
  {
    workspace_id: text().notNull(),
    deployment_id: text().notNull(),
    /** UUID of version 7: its order is that of the revisions. */
    id: text().notNull(),
    status: text({ enum: REVISION_STATUSES }).notNull(),
    /** Why it has the status, where that needs words. */
    status_message: text(),
    source: text({ enum: SOURCES }).notNull(),
    /** The template, for source internal_template. */
    template_id: text(),
    /** The tarball, for source internal_source; null while there is nothing to build yet. */
    source_tarball_path: text(),
    /** A file of the tarball, or of the repository. */
    langgraph_config_path: text(),
    /** The branch, tag or commit, for source github; null: the repository's default branch. */
    repo_ref: text(),
    /** The commit that it stood for when the rollout looked; it is built again by a redeploy. */
    repo_commit_sha: text(),
    /** JSON object of name to sealed value: the environment that this revision runs with. */
    secrets: text().notNull(),
    /** JSON of the revision's graphs, once they were asked for: `[{graph_id, description}]`. */
    graphs: text(),
    created_at: integer().notNull(),
    updated_at: integer().notNull(),
    /** When a rollout is to look at it next; while one works on it, when its lease ends; null: never. */
    due_at: integer(),
    /** Who works on it now. */
    lease: text(),
    /** How often a rollout began on it. */
    attempts: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.workspace_id, table.deployment_id, table.id] }),
    uniqueIndex("revisions_by_id").on(table.id),
    index("revisions_due")
      .on(table.due_at)
      .where(sql`due_at IS NOT NULL`),
    index("revisions_by_tarball").on(table.source_tarball_path),
  ],
);

/** Tarballs that were uploaded, or may still be. */
export const sourceUploads = sqliteTable(
  "source_uploads",
  {
    workspace_id: text().notNull(),
    /** `<workspace id>/uploads/<id>.tar.gz`, also its key in R2. */
    object_path: text().notNull(),
    /** 0 when it was given up, and only its object is still to be removed. */
    created_at: integer().notNull(),
    /** Bytes; null until it is uploaded. */
    size: integer(),
  },
  (table) => [
    primaryKey({ columns: [table.workspace_id, table.object_path] }),
    index("source_uploads_by_time").on(table.created_at),
  ],
);
