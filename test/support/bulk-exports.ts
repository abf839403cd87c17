import { join } from "node:path";
import { downloadFolder, type TestBucket } from "./bucket-files.ts";
import { destinationBody } from "./destinations.ts";
import { readParquet, type Row } from "./duckdb.ts";
import { ask, type Caller, type Json, type Page } from "./stored-runs.ts";
import type { TracingWorkspace } from "./tracing.ts";

const PREFIX = "exports";
const POLL_MS = 25;
const END_TIMEOUT_MS = 150_000;

export type ExportJson = { id: string; status: string } & Json;

export type ExportRunJson = {
  id: string;
  status: string;
  start_time: string;
  end_time: string;
  retry_number: number;
  errors: Record<string, string> | null;
  metadata: {
    result: {
      rows_written: number;
      exported_files: string[];
      export_path: string;
      latest_cursor: string | null;
      pending_upload: unknown;
    };
  };
} & Json;

/** Creates a destination for this bucket, and returns its id. */
export async function createDestination(
  workspace: Caller,
  { endpoint: url, ...bucket }: TestBucket,
): Promise<string> {
  const body = destinationBody({ url, ...bucket }, { config: { prefix: PREFIX } });
  const { id } = await ask(workspace, "POST", "/bulk-exports/destinations", body);
  return String(id);
}

export async function createExport(workspace: Caller, body: object): Promise<ExportJson> {
  return ask<ExportJson>(workspace, "POST", "/bulk-exports", body);
}

export async function readExport(workspace: Caller, id: string): Promise<ExportJson> {
  return ask<ExportJson>(workspace, "GET", `/bulk-exports/${id}`);
}

/** Returns the runs of an export in the order of their days. */
export async function readExportRuns(workspace: Caller, id: string): Promise<ExportRunJson[]> {
  return ask<ExportRunJson[]>(workspace, "GET", `/bulk-exports/${id}/runs`);
}

/** Waits until the export has ended, with any status. Throws after a time-out. */
export async function endedExport(
  workspace: Caller,
  id: string,
  timeoutMs = END_TIMEOUT_MS,
): Promise<{ ended: ExportJson; runs: ExportRunJson[] }> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const ended = await readExport(workspace, id);
    if (END_STATES.has(ended.status)) {
      return { ended, runs: await readExportRuns(workspace, id) };
    }
    if (Date.now() > deadline) {
      const runs = await readExportRuns(workspace, id);
      throw new Error(`The export is still ${ended.status}: ${JSON.stringify(runs, null, 1)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Creates an export and waits until it has succeeded. */
export async function completedExport(
  workspace: Caller,
  body: object,
): Promise<{ ended: ExportJson; runs: ExportRunJson[] }> {
  const { id } = await createExport(workspace, body);
  const result = await endedExport(workspace, id);
  if (result.ended.status === "COMPLETED") return result;
  throw new Error(`The export is ${result.ended.status}: ${JSON.stringify(result.runs, null, 1)}`);
}

/** Returns the folder of an export's files, with a trailing slash. */
export function exportFolder(exportId: string): string {
  return `${PREFIX}/export_id=${exportId}/`;
}

/** Returns the rows of an export's files as DuckDB reads them, in the order of the files and the rows in them. */
export async function exportedRows(
  bucket: TestBucket,
  exportId: string,
  options: Parameters<typeof readParquet>[1] = {},
): Promise<Row[]> {
  const folder = await downloadFolder(bucket, exportFolder(exportId));
  return readParquet(join(folder, "**/*.parquet"), options);
}

/** The exportable columns, in the order of the files. */
export const COLUMNS =
  "id tenant_id session_id trace_id parent_run_id parent_run_ids reference_example_id name run_type start_time end_time status is_root dotted_order trace_tier inputs outputs error extra events tags feedback_stats total_tokens prompt_tokens completion_tokens total_cost prompt_cost completion_cost first_token_time".split(
    " ",
  );

const QUERIED = COLUMNS.filter((name) => name !== "tenant_id" && name !== "is_root");

/** Returns the runs of a project from the run query, earliest first, with the two members that only exports have. */
export async function queriedRuns(
  workspace: TracingWorkspace,
  projectId: string,
  body: object = {},
): Promise<Row[]> {
  const runs: Json[] = [];
  let cursor: string | null = null;
  do {
    const request = { session: [projectId], select: QUERIED, limit: 50, cursor, ...body };
    const page: Page = await ask<Page>(workspace, "POST", "/runs/query", request);
    runs.push(...page.runs);
    cursor = page.cursors.next;
  } while (cursor !== null);
  return runs
    .map((run) => {
      const members = QUERIED.map((name): [string, unknown] => [name, run[name]]);
      members.push(["tenant_id", workspace.id], ["is_root", run["parent_run_id"] === null]);
      return Object.fromEntries(members);
    })
    .toSorted((a, b) => (positionOf(a) < positionOf(b) ? -1 : 1));
}

function positionOf(run: Row): string {
  return `${String(run["start_time"])} ${String(run["id"])}`;
}

const JSON_COLUMNS = ["inputs", "outputs", "extra", "events", "feedback_stats"];
const LIST_COLUMNS = ["parent_run_ids", "tags"];
const COST_COLUMNS = new Set(["total_cost", "prompt_cost", "completion_cost"]);
const END_STATES = new Set(["COMPLETED", "FAILED", "CANCELLED", "TIMEDOUT"]);

/** Converts a row of a file into the form of the run query. */
export function asQueried(row: Row, formatVersion: string): Row {
  const parsed = new Set([...JSON_COLUMNS, ...(formatVersion === "v1" ? LIST_COLUMNS : [])]);
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => {
      if (parsed.has(name) && typeof value === "string") return [name, JSON.parse(value)];
      if (COST_COLUMNS.has(name) && value !== null) return [name, plainDecimal(value)];
      return [name, value];
    }),
  );
}

/** Returns a double, or a decimal with all its digits, as a text. */
function plainDecimal(value: unknown): string {
  const text = typeof value === "number" ? value.toFixed(12) : String(value);
  return text.replace(/\.?0+$/, "");
}

/** Returns all files of an export, as the API names them. */
export function filesOf(runs: readonly ExportRunJson[]): string[] {
  return runs.flatMap(({ metadata }) => metadata.result.exported_files);
}
