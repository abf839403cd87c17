import { env } from "cloudflare:workers";
import { drizzle } from "drizzle-orm/d1";
import { exportDestinations } from "../../src/db/bulk-export-schema.ts";
import {
  insertBulkExport,
  listBulkExports,
  type NewBulkExport,
} from "../../src/db/bulk-exports-repo.ts";
import { listExportRuns, type ExportRunRow } from "../../src/db/export-runs-repo.ts";
import { newPartitions } from "../../src/bulk-export/execution/partitions.ts";

export const DAY = 86_400_000_000;

/** A workspace with a destination, and its exports. */
export class TestExports {
  readonly workspaceId = crypto.randomUUID();
  readonly destinationId = crypto.randomUUID();
  readonly projectId = crypto.randomUUID();
  #created = 1_000;

  async open(): Promise<this> {
    await drizzle(env.DB).insert(exportDestinations).values({
      id: this.destinationId,
      workspace_id: this.workspaceId,
      display_name: "test",
      bucket_name: "bucket",
      prefix: "prefix",
      region: null,
      endpoint_url: "https://bucket.example",
      include_bucket_in_prefix: true,
      credentials_version: 1,
      created_at: 0,
      updated_at: 0,
    });
    return this;
  }

  row(fields: Partial<NewBulkExport> = {}): NewBulkExport {
    this.#created += 1;
    return {
      id: crypto.randomUUID(),
      workspace_id: this.workspaceId,
      destination_id: this.destinationId,
      project_id: this.projectId,
      start_time: 0,
      end_time: 3 * DAY,
      filter: null,
      format_version: "v1",
      compression: "gzip",
      export_fields: null,
      interval_hours: null,
      source_id: null,
      status: "CREATED",
      next_start: null,
      next_due_at: null,
      created_at: this.#created,
      ...fields,
    };
  }

  /** Stores an export with a run for each day, and returns its id. */
  async add(fields: Partial<NewBulkExport> = {}): Promise<string> {
    const row = this.row(fields);
    const partitions = newPartitions({ start: row.start_time, end: row.end_time ?? 0 });
    await insertBulkExport(env.DB, row, row.end_time === null ? [] : partitions);
    return row.id;
  }

  runs(exportId: string): Promise<ExportRunRow[]> {
    return listExportRuns(env.DB, this.workspaceId, exportId, { offset: 0 });
  }

  /** Returns the running exports, oldest first. */
  async running(): Promise<string[]> {
    const rows = await listBulkExports(env.DB, this.workspaceId, { offset: 0 });
    const running = rows.filter(({ status }) => status === "RUNNING");
    return running.map(({ id }) => id).toReversed();
  }

  async statuses(exportId: string): Promise<string[]> {
    return (await this.runs(exportId)).map(({ status }) => status);
  }
}
