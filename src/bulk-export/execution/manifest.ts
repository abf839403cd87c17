import type { BulkExportRow } from "../../db/bulk-exports-repo.ts";
import type { ExportFileRow, ExportRunRow } from "../../db/export-runs-repo.ts";
import { microsToIso } from "../../lib/time.ts";

/**
 * What lies beside the files of a finished export run, and says that they are all there. It depends on
 * the data alone, so that writing it twice changes nothing.
 */
export function manifestJson(
  bulkExport: BulkExportRow,
  run: ExportRunRow,
  files: readonly ExportFileRow[],
): Uint8Array {
  const first = files[0];
  const last = files.at(-1);
  const manifest = {
    export_id: bulkExport.id,
    export_run_id: run.id,
    tenant_id: bulkExport.workspace_id,
    session_id: bulkExport.project_id,
    format_version: bulkExport.format_version,
    compression: bulkExport.compression,
    start_time: microsToIso(run.start_time),
    end_time: microsToIso(run.end_time),
    rows: sumOf(files, "rows"),
    bytes: sumOf(files, "bytes"),
    min_start_time: first === undefined ? null : microsToIso(first.first_start),
    max_start_time: last === undefined ? null : microsToIso(last.last_start),
    files: files.map((file) => ({
      name: file.key.slice(file.key.lastIndexOf("/") + 1),
      rows: file.rows,
      bytes: file.bytes,
      min_start_time: microsToIso(file.first_start),
      max_start_time: microsToIso(file.last_start),
    })),
  };
  return new TextEncoder().encode(`${JSON.stringify(manifest, null, 2)}\n`);
}

function sumOf(files: readonly ExportFileRow[], column: "rows" | "bytes"): number {
  let sum = 0;
  for (const file of files) sum += file[column];
  return sum;
}
