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
  return filterProblem(text);
}

/** Whether the workspace has the project. */
export async function findExportProject(
  env: Pick<Env, "DB">,
  workspaceId: string,
  projectId: string,
): Promise<boolean> {
  return (await selectProject(env.DB, workspaceId, projectId)) !== undefined;
}

/** In UTF-16 units. Larger pages are no faster, and leave more behind until garbage is collected. */
const MAX_PAGE_CHARS = 1024 * 1024;
const MAX_PAGE_RUNS = 4000;

type Place = { start_time: number; id: string };

/** The selected runs of one shard in ascending order; the next page is on its way while one is used. */
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

  /** The next run; undefined when there is none. Call `fill` first. */
  get head(): Place | undefined {
    return this.#head;
  }

  /** The next runs, as far as `precedes` holds (the first in any case, and it never holds again). */
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

  /** Takes the next page when nothing is left of the one before. */
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
    // Who asks for the page hears of its failure; perhaps nobody does.
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
