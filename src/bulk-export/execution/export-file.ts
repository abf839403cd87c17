import type {
  ExportCompression,
  ExportFormatVersion,
  exportRuns,
} from "../../db/bulk-export-schema.ts";
import type { BulkExportRow } from "../../db/bulk-exports-repo.ts";
import { recordFile, saveOpenUpload, savePendingUpload } from "../../db/export-leases-repo.ts";
import type { ExportRunKey, ExportRunRow } from "../../db/export-runs-repo.ts";
import type { Lease } from "../../work/lease.ts";
import type { ExportLimits } from "../export-limits.ts";
import type { S3Bucket } from "../s3/s3-bucket.ts";
import { abortUpload, FileUpload, isStored } from "./file-upload.ts";
import { fileName } from "./partitions.ts";
import {
  formatCursor,
  formatOpenUpload,
  parseCursor,
  parseOpenUpload,
  parsePendingUpload,
  type PendingUpload,
} from "./run-progress.ts";
import { readRunsForExport } from "../../tracing/export.ts";
import type { RunPosition } from "../../tracing/model/columnar-runs.ts";
import { chosenColumns, readColumns } from "../parquet/columns.ts";
import {
  type RunFileOptions,
  type WrittenFile,
  RunFileWriter,
} from "../parquet/run-file-writer.ts";

export type ExportLease = Lease<ExportRunKey, typeof exportRuns>;

type FileStep = {
  env: Env;
  limits: ExportLimits;
  bucket: S3Bucket;
  lease: ExportLease;
  run: ExportRunRow;
  bulkExport: BulkExportRow;
  /** The partition's folder, without a trailing slash. */
  folder: string;
  /** Throws when this step must not continue. */
  check: () => void;
};

/**
 * Writes the run's next file, or none when no rows are left. If an earlier step brought a file into the bucket but
 * did not record it, that file is recorded instead. `isLast` can be false even though no rows are left.
 */
export async function exportFile(step: FileStep): Promise<{ isLast: boolean }> {
  if (await recordPending(step)) return { isLast: false };
  const { env, bucket, lease, run, bulkExport } = step;
  const key = `${step.folder}/${fileName(run.files_written)}`;
  await abortOpenUpload(step);
  const upload = new FileUpload(bucket, { key, step: lease.held.lease }, async (uploadId) => {
    lease.require(
      await saveOpenUpload(env.DB, lease.held, formatOpenUpload({ key, upload_id: uploadId })),
    );
  });
  try {
    const written = await writeRunFile(env, {
      workspaceId: bulkExport.workspace_id,
      projectId: bulkExport.project_id,
      filter: bulkExport.filter,
      from: run.start_time,
      to: run.end_time,
      after: run.latest_cursor === null ? null : parseCursor(run.latest_cursor),
      formatVersion: bulkExport.format_version,
      compression: bulkExport.compression,
      fields: bulkExport.export_fields,
      limits: step.limits,
      write: async (part) => {
        step.check();
        await upload.write(part);
      },
    });
    if (written === null) return { isLast: true };
    const pending: PendingUpload = {
      target_cursor: formatCursor(written.cursor),
      file_path: key,
      rows_count: written.rows,
      step: lease.held.lease,
      bytes: upload.bytes,
      first_start: written.firstStart,
      last_start: written.lastStart,
    };
    lease.require(await savePendingUpload(env.DB, lease.held, JSON.stringify(pending)));
    step.check();
    await upload.finish();
    await record(step, pending);
    return { isLast: written.isLast };
  } catch (error) {
    await upload.abort();
    throw error;
  }
}

async function recordPending(step: FileStep): Promise<boolean> {
  const { pending_upload } = step.run;
  if (pending_upload === null) return false;
  const pending = parsePendingUpload(pending_upload);
  if (!(await isStored(step.bucket, pending.file_path, pending))) return false;
  await record(step, pending);
  return true;
}

async function record({ env, lease, run }: FileStep, pending: PendingUpload): Promise<void> {
  const { file_path: key, rows_count: rows, bytes, first_start, last_start } = pending;
  const file = { number: run.files_written, key, rows, bytes, first_start, last_start };
  const progress = { cursor: pending.target_cursor, now: Date.now() };
  lease.require(await recordFile(env.DB, lease.held, file, progress));
}

/** Aborts the upload that a crashed step has left open: nothing else would abort it. */
async function abortOpenUpload({ run, bucket }: FileStep): Promise<void> {
  if (run.open_upload === null) return;
  const { key, upload_id } = parseOpenUpload(run.open_upload);
  await abortUpload(bucket, key, upload_id);
}

type RunFileRequest = {
  workspaceId: string;
  projectId: string;
  /** A filter in the filter language; null for all runs. */
  filter: string | null;
  /** Bounds of the runs' start in microseconds; `to` is exclusive. */
  from: number;
  to: number;
  /** Only runs after this position are written. */
  after: RunPosition | null;
  formatVersion: ExportFormatVersion;
  compression: ExportCompression;
  /** A JSON list of column names; null for all. */
  fields: string | null;
  limits: RunFileOptions["limits"];
  write: RunFileOptions["write"];
};

/**
 * Writes the next runs into one file, as many as fit. Returns null, and writes nothing, when there are none.
 * `isLast` can be false even though no runs are left.
 */
async function writeRunFile(
  env: Env,
  request: RunFileRequest,
): Promise<(WrittenFile & { isLast: boolean }) | null> {
  const { workspaceId, projectId, filter, from, to, after, limits, write } = request;
  const fields = request.fields === null ? null : (JSON.parse(request.fields) as string[]);
  const columns = chosenColumns(fields);
  const writer = new RunFileWriter({
    workspaceId,
    projectId,
    version: request.formatVersion,
    compression: request.compression,
    columns,
    limits,
    payloads: env.PAYLOADS,
    write,
  });
  for await (const runs of readRunsForExport(env, {
    workspaceId,
    projectId,
    filter,
    from,
    to,
    after,
    columns: columns.flatMap(readColumns),
  })) {
    await writer.add(runs);
    if (writer.isFull) break;
  }
  const written = await writer.finish();
  return written === null ? null : { ...written, isLast: !writer.isFull };
}
