import { ownTime } from "../model/dotted-order.ts";
import { metadataLeavesOf, threadIdOf } from "../model/text-leaves.ts";
import type { Micros } from "../../lib/time.ts";
import type { Leaf, RunWrite } from "../model/run-write.ts";
import { newRunRow, type TracedRunRow } from "../model/run-row.ts";
import { amountsOf, modelOf, type PriceMap } from "../usage/costs.ts";
import { usageOfExtra } from "../usage/reported-usage.ts";
import { toColumns, type OwnAmounts } from "./amounts.ts";
import type { SerializedCreate, WaitingRun } from "./pending-runs.ts";
import { type ForeignChild, RollUp, type WrittenNode } from "./roll-up.ts";
import { RunMerge } from "./run-merge.ts";
import { CHANGING_COLUMNS, saveRuns } from "./save-runs.ts";
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
  /** Ids of runs that are not here, from updates that do not give their place in the tree. */
  unknown: string[];
  /** Runs whose `extra` would have become too large by a write. */
  tooLarge: string[];
  foreign: ForeignChild[];
  /** The starts of the runs, including those that wait for their updates. */
  starts: TraceStarts;
};

/** A shard's response to writes. */
export type WriteResult = {
  /** The project no longer exists, and nothing was stored. */
  projectGone: boolean;
  /** Ids of runs that are not here, from updates without a place in the tree. */
  unknown: string[];
  /** Runs with writes that were not stored because `extra` would have become too large. */
  tooLarge: string[];
};

export const PROJECT_GONE: WriteResult = { projectGone: true, unknown: [], tooLarge: [] };

/**
 * Applies writes to what is stored, in their order; creates that can wait for their updates are kept unchanged. Must
 * be called inside of a transaction.
 */
export function writeRuns(context: WriteContext, writes: readonly RunWrite[]): WriteOutcome {
  const { db, day, now } = context;
  const { packed, others } = db.pending.divide(writes, day);
  const runs = loadRuns(db, others);
  const waited = new Map<RunMerge, WaitingRun>();
  for (const waiting of takeWaiting(db, others, packed)) {
    const run = createdRun(waiting);
    waited.set(run, waiting);
    runs.set(run.row.id, run);
  }
  const unknown: string[] = [];
  const tooLarge: string[] = [];
  for (const write of others) {
    let run = runs.get(write.id);
    if (run === undefined && write.identity === undefined) {
      unknown.push(write.id);
      continue;
    }
    if (run === undefined) {
      run = new RunMerge(newRunRow(write, now), null);
      runs.set(write.id, run);
    }
    const isApplied = waited.has(run) ? applyLater(run, write, now) : run.apply(write);
    if (!isApplied) tooLarge.push(write.id);
  }
  const written = [...runs.values()];
  const nodes = written.map((run) => {
    const isChanged = deriveOwnAmounts(context, run);
    const hasChildren = waited.get(run)?.hasChildren ?? false;
    return { node: run.row, before: run.before, isChanged, hasChildren };
  });
  // This comes before totals go up the tree: children of these runs are noted with them, and not in a row.
  db.pending.hold(packed, now);
  const foreign = store(context, written, nodes);
  const places = [...written.map(({ row }) => row), ...packed.flatMap(placeOf)];
  return { unknown, tooLarge, foreign, starts: startsOf(places) };
}

/**
 * Writes waiting runs as their creates made them. None of them reports amounts (see can-wait.ts), so no prices are
 * needed. Must be called inside of a transaction.
 */
export function writeWaiting(
  context: Omit<WriteContext, "prices">,
  waiting: readonly WaitingRun[],
): ForeignChild[] {
  const runs = waiting.map(createdRun);
  const nodes = runs.map(({ row }, index) => {
    const hasChildren = waiting[index]?.hasChildren ?? false;
    return { node: row, before: null, isChanged: true, hasChildren };
  });
  return store(context, runs, nodes);
}

function store(
  { db, day, now }: Omit<WriteContext, "prices">,
  runs: readonly RunMerge[],
  nodes: readonly WrittenNode[],
): ForeignChild[] {
  for (const run of runs) if (run.attributesChanged) deriveAttributes(run);
  const foreign = new RollUp(db, day).ofWritten(nodes);
  saveRuns(db, runs, now);
  return foreign;
}

function loadRuns(db: ShardDatabase, writes: readonly RunWrite[]): Map<string, RunMerge> {
  const ids = new Set(writes.map(({ id }) => id));
  return new Map(
    readStoredRuns(db, ids).map((stored) => [stored.row.id, new RunMerge(stored.row, stored)]),
  );
}

/** Takes the waiting runs that these writes update, and the oldest of the others to make room for more. */
function takeWaiting(
  { pending }: ShardDatabase,
  writes: readonly RunWrite[],
  more: readonly SerializedCreate[],
): WaitingRun[] {
  const updated = pending.take(writes.map(({ id }) => id));
  return [...updated, ...pending.makeRoom(more)];
}

/** Returns a run as its create made it. */
function createdRun({ create, receivedAt }: WaitingRun): RunMerge {
  const run = new RunMerge(newRunRow(create, receivedAt), null);
  run.apply(create);
  return run;
}

/** Applies a write to a run that waited; its row gets the time of the change, as if it had been stored before. */
function applyLater(run: RunMerge, write: RunWrite, now: Micros): boolean {
  const { row, puts } = run;
  const before = { ...row };
  const isApplied = run.apply(write);
  if (run.puts > puts || CHANGING_COLUMNS.some((column) => row[column] !== before[column])) {
    row.received_at = now;
  }
  return isApplied;
}

/** Computes the tokens and costs that the run reports itself. Returns true if its totals may change. */
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

/** Sets the thread, and the metadata pairs that filters search. */
function deriveAttributes({ row, extra }: RunMerge): void {
  row.thread_id = threadIdOf(extra);
  const pairs = new Map<string, Leaf>();
  for (const leaf of metadataLeavesOf(extra)) pairs.set(JSON.stringify(leaf), leaf);
  row.metadata = pairs.size === 0 ? null : `[${[...pairs.keys()].join(",")}]`;
}

type StartedRun = Pick<TracedRunRow, "trace_id" | "start_time">;

/** Returns the start of a run that waits for its update. */
function placeOf({ create: { identity, startTime } }: SerializedCreate): StartedRun[] {
  if (identity === undefined) return [];
  const start_time = startTime ?? ownTime(identity.dottedOrder);
  return [{ trace_id: identity.traceId, start_time }];
}

function startsOf(runs: readonly StartedRun[]): TraceStarts {
  const starts: TraceStarts = new Map();
  for (const { trace_id, start_time } of runs) {
    const known = starts.get(trace_id);
    starts.set(trace_id, {
      first: Math.min(known?.first ?? start_time, start_time),
      last: Math.max(known?.last ?? start_time, start_time),
    });
  }
  return starts;
}
