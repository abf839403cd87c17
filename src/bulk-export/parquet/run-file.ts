import type { ExportCompression, ExportFormatVersion } from "../../db/bulk-export-schema.ts";
import { readRunsForExport } from "../../tracing/export.ts";
import type { RunPosition } from "../../tracing/model/packed-runs.ts";
import { chosenColumns, readColumns } from "./columns.ts";
import { RunFileWriter, type RunFileOptions, type WrittenFile } from "./run-file-writer.ts";

export type RunFileRequest = {
  workspaceId: string;
  projectId: string;
  /** A text of the filter language; null: all runs. */
  filter: string | null;
  /** Bounds of the runs' start in microseconds; the second is exclusive. */
  from: number;
  to: number;
  /** Only runs behind it. */
  after: RunPosition | null;
  formatVersion: ExportFormatVersion;
  compression: ExportCompression;
  /** JSON list of column names; null: all. */
  fields: string | null;
  limits: RunFileOptions["limits"];
  write: RunFileOptions["write"];
};

/**
 * Writes the next runs into one file, as many as it holds; null, and nothing is written, when there are
 * none. `isLast` may be false though nothing follows.
 */
export async function writeRunFile(
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
