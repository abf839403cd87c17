import { selectProject } from "../db/projects-repo.ts";
import { FilterError, parseFilter } from "./filter/filter.ts";
import { ExportSource } from "./query/export-source.ts";
import { knownTracesReader } from "./query/known-traces.ts";
import { findCandidates, ShardMerge } from "./query/shard-merge.ts";
import type { ExportedRuns, RunColumn } from "./model/packed-runs.ts";
import type { RunPosition } from "./model/run-page.ts";
import type { Micros } from "./model/run-write.ts";

export type RunsToExport = {
  workspaceId: string;
  projectId: string;
  /** A text of the filter language, already checked; null: all runs. */
  filter: string | null;
  /** Bounds of the runs' start; the second is exclusive. */
  from: Micros;
  to: Micros;
  /** Only runs behind it. */
  after: RunPosition | null;
  columns: readonly RunColumn[];
};

/** The runs over all shards, in the order of their start and then their id. */
export async function* readRunsForExport(
  env: Env,
  { workspaceId, projectId, filter, from, to, after, columns }: RunsToExport,
): AsyncGenerator<ExportedRuns, void> {
  const selection = { from, to: to - 1, filter: filter ?? undefined };
  const candidates = await findCandidates(env, {
    workspaceId,
    projectIds: [projectId],
    from,
    to: to - 1,
    order: "asc",
    after,
  });
  const known = knownTracesReader(env, selection, workspaceId);
  const merge = new ShardMerge(candidates, "asc", async (ref) => {
    const source = new ExportSource(env, ref, selection, columns, await known(ref), after);
    await source.fill();
    return source;
  });
  for (;;) {
    const source = await merge.next();
    if (source === undefined) return;
    yield source.take((run) => merge.precedes(source, run));
    await source.fill();
  }
}

/** What is wrong with a filter, with the place in its text; null when nothing is. */
export function checkExportFilter(text: string): string | null {
  try {
    parseFilter(text);
    return null;
  } catch (error) {
    if (error instanceof FilterError) return error.message;
    throw error;
  }
}

/** Whether the workspace has the project. */
export async function findExportProject(
  env: Pick<Env, "DB">,
  workspaceId: string,
  projectId: string,
): Promise<boolean> {
  return (await selectProject(env.DB, workspaceId, projectId)) !== undefined;
}
