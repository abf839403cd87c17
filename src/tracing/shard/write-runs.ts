import { metadataOf, threadIdOf } from "../model/text-leaves.ts";
import type { Leaf, RunWrite } from "../model/run-write.ts";
import { newRunRow } from "../model/run-row.ts";
import { amountsOf, modelOf, type PriceMap } from "../usage/costs.ts";
import { usageOfExtra } from "../usage/reported-usage.ts";
import { toColumns, type OwnAmounts } from "./amounts.ts";
import { type ForeignChild, RollUp } from "./roll-up.ts";
import { RunMerge } from "./run-merge.ts";
import { saveRuns } from "./save-runs.ts";
import type { ShardDatabase } from "./shard-database.ts";
import { readStoredRuns } from "./stored-runs.ts";
import type { TraceStarts } from "./trace-table.ts";

export type WriteContext = {
  db: ShardDatabase;
  day: number;
  prices: PriceMap;
  /** Microseconds. */
  now: number;
};

export type WriteOutcome = {
  /** Updates that do not say where in the tree their run is, of runs that are not here. */
  unknown: string[];
  /** Runs of writes with which `extra` would have become too large. */
  tooLarge: string[];
  foreign: ForeignChild[];
  /** When the runs that were written start. */
  starts: TraceStarts;
};

/** What a shard says of writes. */
export type WriteResult = {
  /** Nothing was stored. */
  projectGone: boolean;
  /** Runs of updates without a place in the tree, which are not here. */
  unknown: string[];
  /** Runs of writes that are not stored, as `extra` would have become too large. */
  tooLarge: string[];
};

export const PROJECT_GONE: WriteResult = { projectGone: true, unknown: [], tooLarge: [] };

/** Lays writes over what is stored, in their order. To be called inside of a transaction. */
export function writeRuns(context: WriteContext, writes: readonly RunWrite[]): WriteOutcome {
  const { db, day, now } = context;
  const runs = loadRuns(db, writes);
  const unknown: string[] = [];
  const tooLarge: string[] = [];
  for (const write of writes) {
    let run = runs.get(write.id);
    if (run === undefined && write.identity === undefined) {
      unknown.push(write.id);
      continue;
    }
    if (run === undefined) {
      run = new RunMerge(newRunRow(write, now), null);
      runs.set(write.id, run);
    }
    if (!run.apply(write)) tooLarge.push(write.id);
  }
  const pending = [...runs.values()];
  const nodes = pending.map((run) => {
    const isChanged = deriveOwnAmounts(context, run);
    if (run.attributesChanged) deriveAttributes(run);
    return { node: run.row, before: run.before, isChanged };
  });
  const foreign = new RollUp(db, day).ofWritten(nodes);
  saveRuns(db, pending, now);
  return { unknown, tooLarge, foreign, starts: startsOf(pending) };
}

function loadRuns(db: ShardDatabase, writes: readonly RunWrite[]): Map<string, RunMerge> {
  const ids = new Set(writes.map(({ id }) => id));
  return new Map(
    readStoredRuns(db, ids).map((stored) => [stored.row.id, new RunMerge(stored.row, stored)]),
  );
}

/** Tokens and costs that the run reports itself. True when its totals may be other ones by that. */
function deriveOwnAmounts(context: WriteContext, run: RunMerge): boolean {
  if (!run.amountsChanged && !run.isNew) return false;
  const { row, before } = run;
  const reported = usageOfExtra(run.extra) ?? run.usage;
  if (reported === null) {
    row.own_amounts = null;
  } else {
    const counted = reported.explicit || row.run_type === "llm";
    const amounts = counted
      ? amountsOf(reported, modelOf(run.extra), row.start_time, context.prices)
      : null;
    row.price_model_id = amounts?.priceModelId ?? null;
    const own: OwnAmounts = {
      usage: reported,
      amounts: amounts === null ? null : toColumns(amounts),
    };
    row.own_amounts = JSON.stringify(own);
  }
  return before?.own_amounts !== row.own_amounts || before.run_type !== row.run_type;
}

/** The thread, and the pairs that filters see. */
function deriveAttributes({ row, extra }: RunMerge): void {
  row.thread_id = threadIdOf(extra);
  const pairs = new Map<string, Leaf>();
  for (const leaf of metadataOf(extra)) pairs.set(JSON.stringify(leaf), leaf);
  row.metadata = pairs.size === 0 ? null : `[${[...pairs.keys()].join(",")}]`;
}

function startsOf(runs: readonly RunMerge[]): TraceStarts {
  const starts: TraceStarts = new Map();
  for (const { row } of runs) {
    const { start_time } = row;
    const known = starts.get(row.trace_id);
    starts.set(row.trace_id, {
      first: Math.min(known?.first ?? start_time, start_time),
      last: Math.max(known?.last ?? start_time, start_time),
    });
  }
  return starts;
}
