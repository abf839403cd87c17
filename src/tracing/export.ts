import { selectProject } from "../db/projects-repo.ts";
import { filterProblem, type KnownTraces } from "./filter/filter.ts";
import { knownTracesReader } from "./query/known-traces.ts";
import { findCandidates, ShardMerge } from "./query/shard-merge.ts";
import {
  type ExportedRuns,
  type ColumnarRuns,
  type RunColumn,
  textAt,
} from "./model/columnar-runs.ts";
import type { RunPosition } from "./model/run-page.ts";
import type { Micros } from "../lib/time.ts";
import type { ExportPage } from "./shard/export-page.ts";
import { type ShardEnv, type ShardRef, shardStub } from "./shard/shard-ref.ts";
import type { RunSelection } from "./shard/selection.ts";

export type RunsToExport = {
  workspaceId: string;
  projectId: string;
  /** A text of the filter language, already checked; null for all runs. */
  filter: string | null;
  /** Bounds of the runs' start times; `to` is exclusive. */
  from: Micros;
  to: Micros;
  /** Only runs after this position are exported. */
  after: RunPosition | null;
  columns: readonly RunColumn[];
};

/** Yields the selected runs of all shards, ordered by start and then by id. */
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

/** Returns what is wrong with a filter, including the position in its text; null if it is valid. */
export function checkExportFilter(text: string): string | null {
  return filterProblem(text);
}

/** Returns whether the workspace has the project. */
export async function findExportProject(
  env: Pick<Env, "DB">,
  workspaceId: string,
  projectId: string,
): Promise<boolean> {
  return (await selectProject(env.DB, workspaceId, projectId)) !== undefined;
}

/** In UTF-16 code units. Larger pages are no faster, and leave more garbage to collect. */
const MAX_PAGE_CHARS = 1024 * 1024;
const MAX_PAGE_RUNS = 4000;

type Place = { start_time: number; id: string };

/** The selected runs of one shard in ascending order. The next page is fetched while one is being used. */
class ExportSource {
  readonly #read: (after: RunPosition | null) => Promise<ExportPage>;
  #page: ColumnarRuns = { rows: 0, texts: {}, numbers: {} };
  #row = 0;
  #head: Place | undefined;
  #coming: Promise<ExportPage> | null;

  constructor(
    env: ShardEnv,
    ref: ShardRef,
    selection: RunSelection,
    columns: readonly RunColumn[],
    known: KnownTraces | undefined,
    after: RunPosition | null,
  ) {
    this.#read = (behind) =>
      shardStub(env, ref).exportPage(
        selection,
        { columns, after: behind, limit: MAX_PAGE_RUNS, maxBytes: MAX_PAGE_CHARS },
        known,
      );
    this.#coming = this.#start(after);
  }

  /** The next run; undefined if there is none. Call `fill` first. */
  get head(): Place | undefined {
    return this.#head;
  }

  /** Takes the next run, and further runs while `precedes` holds. Once false, it must stay false. */
  take(precedes: (run: Place) => boolean): { runs: ColumnarRuns; from: number; to: number } {
    const from = this.#row;
    const { rows } = this.#page;
    if (precedes(placeOf(this.#page, rows - 1))) {
      this.#row = rows;
    } else {
      this.#row += 1;
      while (this.#row < rows && precedes(placeOf(this.#page, this.#row))) this.#row += 1;
    }
    this.#head = this.#row < rows ? placeOf(this.#page, this.#row) : undefined;
    return { runs: this.#page, from, to: this.#row };
  }

  /** Takes the next page once no run of the previous page is left. */
  async fill(): Promise<void> {
    while (this.#head === undefined && this.#coming !== null) {
      const { runs, next } = await this.#coming;
      this.#coming = next === null ? null : this.#start(next);
      this.#page = runs;
      this.#row = 0;
      this.#head = runs.rows > 0 ? placeOf(runs, 0) : undefined;
    }
  }

  #start(after: RunPosition | null): Promise<ExportPage> {
    const coming = this.#read(after);
    // The caller that awaits the page gets its error; there may be no such caller.
    coming.catch(() => undefined);
    return coming;
  }
}

function placeOf({ texts, numbers }: ColumnarRuns, row: number): Place {
  const { id } = texts;
  const start = numbers.start_time?.[row];
  const text = id === undefined ? null : textAt(id, row);
  if (start === undefined || text === null) throw new Error("a packed run without a place");
  return { start_time: start, id: text };
}
