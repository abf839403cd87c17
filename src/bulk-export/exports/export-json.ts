import type { BulkExportRow } from "../../db/bulk-exports-repo.ts";
import type { ExportDestinationRow } from "../../db/export-destinations-repo.ts";
import type { ExportFileRow, ExportRunRow } from "../../db/export-runs-repo.ts";
import { microsToIso, toIso } from "../../lib/time.ts";
import { partitionFolder } from "../execution/object-keys.ts";
import { parsePendingUpload } from "../execution/run-progress.ts";
import type { ExportJson, ExportRunJson } from "./schemas.ts";

export function toExportJson(row: BulkExportRow): ExportJson {
  return {
    id: row.id,
    tenant_id: row.workspace_id,
    bulk_export_destination_id: row.destination_id,
    session_id: row.project_id,
    start_time: microsToIso(row.start_time),
    end_time: row.end_time === null ? null : microsToIso(row.end_time),
    filter: row.filter,
    format: "Parquet",
    format_version: row.format_version,
    compression: row.compression,
    interval_hours: row.interval_hours,
    export_fields: row.export_fields === null ? null : (JSON.parse(row.export_fields) as string[]),
    source_bulk_export_id: row.source_id,
    status: row.status,
    hold_reason: row.hold_reason,
    created_at: toIso(row.created_at),
    updated_at: toIso(row.updated_at),
    finished_at: row.finished_at === null ? null : toIso(row.finished_at),
  };
}

/** Paths begin with the bucket's name, unless the destination's address has it already. */
export function toExportRunJson(
  run: ExportRunRow,
  files: readonly ExportFileRow[],
  bulkExport: BulkExportRow,
  destination: ExportDestinationRow,
): ExportRunJson {
  const path = (key: string): string =>
    destination.include_bucket_in_prefix ? `${destination.bucket_name}/${key}` : key;
  const pending = run.pending_upload === null ? null : parsePendingUpload(run.pending_upload);
  const range = { start_time: microsToIso(run.start_time), end_time: microsToIso(run.end_time) };
  return {
    id: run.id,
    bulk_export_id: run.export_id,
    status: run.status,
    retry_number: run.retry_number,
    errors: run.errors === null ? null : (JSON.parse(run.errors) as Record<string, string>),
    ...range,
    created_at: toIso(run.created_at),
    updated_at: toIso(run.updated_at),
    finished_at: run.finished_at === null ? null : toIso(run.finished_at),
    metadata: {
      prefix: destination.prefix,
      ...range,
      execution_backend: null,
      result: {
        rows_written: run.rows_written,
        exported_files: files.map(({ key }) => path(key)),
        export_path: path(
          partitionFolder({
            prefix: destination.prefix,
            exportId: run.export_id,
            workspaceId: run.workspace_id,
            projectId: bulkExport.project_id,
            formatVersion: bulkExport.format_version,
            startTime: run.start_time,
          }),
        ),
        latest_cursor: run.latest_cursor,
        pending_upload:
          pending === null
            ? null
            : {
                target_cursor: pending.target_cursor,
                file_path: path(pending.file_path),
                rows_count: pending.rows_count,
              },
      },
    },
  };
}
