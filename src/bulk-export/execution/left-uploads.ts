import { clearOpenUpload, type ExportRunRow } from "../../db/export-runs-repo.ts";
import { selectBulkExport } from "../../db/bulk-exports-repo.ts";
import { currentCredentials, openBucket } from "../destinations/open-bucket.ts";
import { S3Error } from "../s3/s3-error.ts";
import { abortUpload } from "./file-upload.ts";
import { parseOpenUpload } from "./run-progress.ts";

/**
 * Aborts the multipart upload of a run that was ended from outside while a step was at work, or that a
 * step left when it died. It is tried once: where it fails, the bucket's own rules have to end it.
 */
export async function abortLeftUpload(env: Env, run: ExportRunRow): Promise<void> {
  try {
    await abortUploadOf(env, run);
  } catch (error) {
    if (!(error instanceof S3Error)) throw error;
  }
  await clearOpenUpload(env.DB, run);
}

async function abortUploadOf(env: Env, run: ExportRunRow): Promise<void> {
  const { workspace_id: workspaceId, open_upload } = run;
  const bulkExport = await selectBulkExport(env.DB, workspaceId, run.export_id);
  if (bulkExport === undefined || open_upload === null) return;
  const { destination_id: destinationId } = bulkExport;
  // Those that the run began with may be gone by now.
  const current = await currentCredentials(env.DB, workspaceId, destinationId);
  if (current === null) return;
  const opened = await openBucket(env, {
    workspaceId,
    destinationId,
    credentialsVersion: current.version,
  });
  const { key, upload_id } = parseOpenUpload(open_upload);
  if (opened !== null) await abortUpload(opened.bucket, key, upload_id);
}
