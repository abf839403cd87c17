import { type BulkExportRow, endExport, selectBulkExport } from "../../db/bulk-exports-repo.ts";
import { completeRun, EXPORT_RUN_WORK, failRun, retryRun } from "../../db/export-leases-repo.ts";
import {
  type ExportFileRow,
  type ExportRunKey,
  type ExportRunRow,
  listExportFiles,
} from "../../db/export-runs-repo.ts";
import { parseSettings } from "../../env.ts";
import { log } from "../../lib/log.ts";
import { Lease, LeaseLost } from "../../work/lease.ts";
import { findExportProject } from "../../tracing/export.ts";
import { currentCredentials, openBucket, type OpenBucket } from "../destinations/open-bucket.ts";
import type { ExportLimits } from "../export-limits.ts";
import { exportFile, type ExportLease } from "./export-file.ts";
import { MANIFEST_NAME, partitionFolder } from "./partitions.ts";
import { nudgeRuns, startFollowing, startWaitingRuns } from "./schedule.ts";
import { describeFailure, ExportImpossible, StepError } from "./step-failure.ts";
import { microsToIso } from "../../lib/time.ts";

/** A margin, so that the message does not arrive before the row is due. */
const NUDGE_AFTER_SECONDS = 1;

/**
 * Does one step of an export run: it writes a file, or ends the run. Does nothing when the run is not due, or is
 * leased to another process. Throws only when D1 cannot be reached.
 */
export async function runExportStep(env: Env, key: ExportRunKey): Promise<void> {
  const { exportLimits } = parseSettings(env);
  const taken = await Lease.take(env.DB, EXPORT_RUN_WORK, key, exportLimits.lease_seconds * 1000);
  if (taken === null) return;
  const { lease, row: run } = taken;
  try {
    const bulkExport = await selectBulkExport(env.DB, key.workspaceId, run.export_id);
    if (bulkExport?.status !== "RUNNING") return;
    const step = new ExportStep(env, exportLimits, lease, run, bulkExport);
    if (await step.endIfOverdue()) return;
    try {
      await step.work();
    } catch (error) {
      if (error instanceof LeaseLost) throw error;
      await step.fail(error);
    }
  } catch (error) {
    if (!(error instanceof LeaseLost)) throw error;
    log(parseSettings(env).logLevel, "info", {
      event: "export_step_superseded",
      run_id: run.id,
      reason: error.message,
    });
  } finally {
    lease.stop();
  }
}

class ExportStep {
  readonly #env: Env;
  readonly #limits: ExportLimits;
  readonly #lease: ExportLease;
  readonly #run: ExportRunRow;
  readonly #export: BulkExportRow;

  constructor(
    env: Env,
    limits: ExportLimits,
    lease: ExportLease,
    run: ExportRunRow,
    bulkExport: BulkExportRow,
  ) {
    this.#env = env;
    this.#limits = limits;
    this.#lease = lease;
    this.#run = run;
    this.#export = bulkExport;
  }

  async endIfOverdue(): Promise<boolean> {
    const { id, workspace_id, started_at } = this.#export;
    const now = Date.now();
    const overdue = (started_at ?? now) + this.#limits.export_timeout_seconds * 1000 <= now;
    if (!overdue) return false;
    await endExport(this.#env.DB, workspace_id, id, { status: "TIMEDOUT", now });
    await startFollowing(this.#env, this.#export);
    return true;
  }

  async work(): Promise<void> {
    this.#checkInterruptions();
    this.#checkAttempt();
    const { workspace_id: workspaceId, project_id: projectId } = this.#export;
    const destination = await this.#open();
    const folder = partitionFolder({
      prefix: destination.prefix,
      exportId: this.#export.id,
      workspaceId,
      projectId,
      formatVersion: this.#export.format_version,
      startTime: this.#run.start_time,
    });
    const { isLast } = await exportFile({
      env: this.#env,
      limits: this.#limits,
      bucket: destination.bucket,
      lease: this.#lease,
      run: this.#run,
      bulkExport: this.#export,
      folder,
      check: () => this.#checkAttempt(),
    });
    // This is checked last: if the project was deleted during the step, runs may be missing from the file.
    if (!(await findExportProject(this.#env, workspaceId, projectId))) {
      throw new ExportImpossible("The tracing project was deleted");
    }
    if (isLast) await this.#complete(destination, folder);
    else await this.#goOn();
  }

  async fail(error: unknown): Promise<void> {
    const { text, retry, credentials } = describeFailure(error);
    log(parseSettings(this.#env).logLevel, "warn", {
      event: "export_attempt_failed",
      workspace: this.#export.workspace_id,
      export_id: this.#export.id,
      run_id: this.#run.id,
      retry_number: this.#run.retry_number,
      error: error instanceof Error ? error.stack : String(error),
    });
    const { held: key } = this.#lease;
    const now = Date.now();
    const renewed = credentials && (await this.#haveCredentialsChanged());
    if ((retry || renewed) && this.#run.retry_number < this.#limits.retries) {
      const delaySeconds = renewed ? 0 : this.#limits.retry_delay_seconds;
      const dueAt = now + delaySeconds * 1000;
      this.#lease.require(await retryRun(this.#env.DB, key, { error: text, dueAt, now }));
      await nudgeRuns(this.#env, [key], renewed ? 0 : delaySeconds + NUDGE_AFTER_SECONDS);
      return;
    }
    await failRun(this.#env.DB, key, { exportId: this.#export.id, error: text, now });
    await startFollowing(this.#env, this.#export);
  }

  async #open(): Promise<OpenBucket> {
    const opened = await openBucket(this.#env, {
      workspaceId: this.#export.workspace_id,
      destinationId: this.#export.destination_id,
      credentialsVersion: this.#run.credentials_version,
      deadline: () => Math.min(this.#lease.deadline, this.#attemptEnd()),
    });
    if (opened === null) throw new ExportImpossible("The destination was deleted");
    return opened;
  }

  /** Whether the destination's credentials have changed. A new attempt uses the current ones. */
  async #haveCredentialsChanged(): Promise<boolean> {
    const { workspace_id, destination_id } = this.#export;
    const current = await currentCredentials(this.#env.DB, workspace_id, destination_id);
    return current !== null && current.version !== this.#run.credentials_version;
  }

  /** The manifest is written first, so that every completed run has one. */
  async #complete(destination: OpenBucket, folder: string): Promise<void> {
    const { DB } = this.#env;
    const { workspace_id: workspaceId, id: exportId } = this.#export;
    const files = await listExportFiles(DB, workspaceId, [this.#run.id]);
    await destination.bucket.put(
      `${folder}/${MANIFEST_NAME}`,
      manifestJson(this.#export, this.#run, files),
      { contentType: "application/json" },
    );
    const now = Date.now();
    const { exportEnded } = await completeRun(DB, this.#lease.held, { exportId, now });
    if (exportEnded) await startFollowing(this.#env, this.#export);
    else await startWaitingRuns(this.#env, workspaceId, exportId);
  }

  async #goOn(): Promise<void> {
    this.#lease.require(await this.#lease.release(Date.now()));
    await nudgeRuns(this.#env, [this.#lease.held]);
  }

  /**
   * Fails the attempt after too many interruptions, because a row that crashes its reader must not do so for ever.
   */
  #checkInterruptions(): void {
    const { interruptions, latest_cursor } = this.#run;
    if (interruptions < this.#limits.interruptions) return;
    const place = latest_cursor === null ? "at its beginning" : `behind ${latest_cursor}`;
    throw new StepError(`The export run was interrupted ${interruptions} times in a row ${place}`);
  }

  #checkAttempt(): void {
    this.#lease.check();
    if (this.#attemptEnd() > Date.now()) return;
    throw new StepError(`The attempt took longer than ${this.#limits.run_timeout_seconds} seconds`);
  }

  #attemptEnd(): number {
    const started = this.#run.attempt_started_at ?? Date.now();
    return started + this.#limits.run_timeout_seconds * 1000;
  }
}

/**
 * Returns the manifest, which is stored beside the files of a finished run and lists them all. It depends only on
 * the data, so writing it twice changes nothing.
 */
function manifestJson(
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
