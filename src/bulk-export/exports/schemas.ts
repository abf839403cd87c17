import { z } from "@hono/zod-openapi";
import {
  EXPORT_COMPRESSIONS,
  EXPORT_FORMAT_VERSIONS,
  EXPORT_STATUSES,
} from "../../db/bulk-export-schema.ts";
import { notServed } from "../../http/not-served.ts";
import { uuidParam } from "../../http/path-params.ts";
import { integerParam } from "../../http/query-params.ts";
import { timeValue } from "../../http/time-value.ts";
import { EXPORT_FIELDS } from "../parquet/columns.ts";
import type { BulkExportRow } from "../../db/bulk-exports-repo.ts";
import type { ExportDestinationRow } from "../../db/export-destinations-repo.ts";
import type { ExportFileRow, ExportRunRow } from "../../db/export-runs-repo.ts";
import { microsToIso, toIso } from "../../lib/time.ts";
import { partitionFolder } from "../execution/partitions.ts";
import { parsePendingUpload } from "../execution/run-progress.ts";

const MAX_INTERVAL_HOURS = 168;
const MAX_PAGE = 1000;

export const exportCreateSchema = z
  .strictObject({
    bulk_export_destination_id: uuidParam(),
    session_id: uuidParam().openapi({ description: "The tracing project" }),
    all_experiments: notServed("Exports of all experiments are not supported: name one project"),
    start_time: timeValue().openapi({
      description: "Exports runs that started at this time or later; in UTC unless it has a zone",
    }),
    end_time: timeValue().nullish().openapi({
      description: "Exports runs that started before this time; required, except for a schedule",
    }),
    filter: z.string().nullish().openapi({ description: "In the filter language of run queries" }),
    format: z.literal("Parquet").nullish(),
    format_version: z.enum(EXPORT_FORMAT_VERSIONS).nullish().openapi({ default: "v1" }),
    compression: z.enum(EXPORT_COMPRESSIONS).nullish().openapi({ default: "gzip" }),
    interval_hours: z.int().min(1).max(MAX_INTERVAL_HOURS).nullish().openapi({
      description: "Makes it a schedule, which exports each interval of so many hours",
    }),
    export_fields: z
      .array(z.enum(EXPORT_FIELDS))
      .min(1)
      .nullish()
      .openapi({ description: "The columns to write; all when left out" }),
  })
  .openapi("BulkExportCreate");

export type ExportCreateBody = z.output<typeof exportCreateSchema>;

const cancelled = z
  .string()
  .transform((text, ctx): "CANCELLED" => {
    if (text.toUpperCase() === "CANCELLED") return "CANCELLED";
    ctx.addIssue({
      code: "custom",
      message: "Input should be 'Cancelled'",
      params: { type: "literal_error" },
    });
    return z.NEVER;
  })
  .openapi({ type: "string", enum: ["Cancelled"], description: "In upper or lower case" });

export const exportUpdateSchema = z.strictObject({ status: cancelled }).openapi("BulkExportUpdate");

const status = z.enum(EXPORT_STATUSES);

export const exportSchema = z
  .object({
    id: z.uuid(),
    tenant_id: z.uuid(),
    bulk_export_destination_id: z.uuid(),
    session_id: z.uuid(),
    start_time: z.iso.datetime(),
    end_time: z.iso.datetime().nullable(),
    filter: z.string().nullable(),
    format: z.literal("Parquet"),
    format_version: z.enum(EXPORT_FORMAT_VERSIONS),
    compression: z.enum(EXPORT_COMPRESSIONS),
    interval_hours: z.int().nullable(),
    export_fields: z.array(z.string()).nullable(),
    source_bulk_export_id: z
      .uuid()
      .nullable()
      .openapi({ description: "The schedule that spawned this export" }),
    status: status.openapi({ description: "A schedule stays CREATED until it is cancelled" }),
    hold_reason: z.string().nullable().openapi({
      description: "Why a schedule spawns no exports at present, such as a lower plan",
    }),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    finished_at: z.iso.datetime().nullable(),
  })
  .openapi("BulkExport");

type ExportJson = z.infer<typeof exportSchema>;

export const exportRunSchema = z
  .object({
    id: z.uuid(),
    bulk_export_id: z.uuid(),
    status,
    retry_number: z.int(),
    errors: z
      .record(z.string(), z.string())
      .nullable()
      .openapi({ description: "The error of each attempt: retry_0, retry_1, ..." }),
    start_time: z.iso.datetime(),
    end_time: z.iso.datetime().openapi({ description: "Exclusive" }),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    finished_at: z.iso.datetime().nullable(),
    metadata: z.object({
      prefix: z.string(),
      start_time: z.iso.datetime(),
      end_time: z.iso.datetime(),
      execution_backend: z.null(),
      result: z.object({
        rows_written: z.int(),
        exported_files: z.array(z.string()),
        export_path: z.string(),
        latest_cursor: z.string().nullable(),
        pending_upload: z
          .object({
            target_cursor: z.string().nullable(),
            file_path: z.string(),
            rows_count: z.int(),
          })
          .nullable(),
      }),
    }),
  })
  .openapi("BulkExportRun");

export type ExportRunJson = z.infer<typeof exportRunSchema>;

export const exportParams = z.object({ bulk_export_id: uuidParam() });

export const exportRunParams = z.object({ bulk_export_id: uuidParam(), run_id: uuidParam() });

const pageMembers = {
  limit: integerParam({ min: 1, max: MAX_PAGE }).optional(),
  offset: integerParam({ min: 0 }).default(0),
};

export const exportListQuery = z.strictObject(pageMembers);

export const spawnedRunsQuery = z.strictObject({
  source_bulk_export_id: uuidParam(),
  ...pageMembers,
});

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

/** Converts a run to its JSON. Paths begin with the bucket's name, unless the destination's URL contains it. */
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
