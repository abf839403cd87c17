import { isObject } from "../../../lib/json.ts";
import type { RunRow } from "../storage/run-row.ts";
import { kwargsText } from "../storage/run-kwargs.ts";
import type { ThreadStorage } from "../storage/thread-storage.ts";
import type { ThreadLog } from "./event-cursor.ts";
import type {
  RunEnd,
  TranslatedRun,
} from "../../../graph-runtime/stream-protocol/run-translator.ts";

/** State of runs that is not stored in their tables. */
type RunsNow = {
  hasEnded: (runSeq: number) => boolean;
  /** Returns the id of the first event of the run that must not be shown yet. */
  shownBefore: (runSeq: number) => number;
};

/** Returns the logs of a thread's runs as its readers see them. It may be used before the thread exists. */
export function threadLog(storage: ThreadStorage, now: RunsNow): ThreadLog {
  const { runs, log } = storage;
  return {
    runAt: (place) => (storage.exists ? runs.keptAt(place) : null),
    runFrom: (place) => (storage.exists ? runs.keptFrom(place) : null),
    runNow: (runId) => (storage.exists ? runs.get(runId) : null),
    read: (runSeq, after) =>
      storage.exists ? log.read(runSeq, after, now.shownBefore(runSeq)) : [],
    // The last events may not be on disk yet.
    hasEnded: (runSeq) => now.hasEnded(runSeq) && now.shownBefore(runSeq) === Infinity,
    describe: (run) => describe(storage, run),
    endOf: (run) => endOf(storage, run),
  };
}

function describe(storage: ThreadStorage, run: RunRow): TranslatedRun {
  const { run_id, graph_id } = run;
  return { run_id, graph_id, answers: answersOf(storage, run) };
}

/** Returns the ids of the interrupts that a run answers, if it was created with answers keyed by them. */
export function answersOf({ texts }: ThreadStorage, run: RunRow): string[] {
  const kwargs = kwargsText(texts, run);
  if (kwargs === null) return [];
  const { command }: { command?: { resume?: unknown } | null } = JSON.parse(kwargs);
  const resume = command?.resume;
  if (!isObject(resume)) return [];
  return Object.keys(resume).filter((key) => INTERRUPT_ID.test(key));
}

/** Format of LangGraph's interrupt ids; a `resume` with other keys is a single answer. */
const INTERRUPT_ID = /^[0-9a-f]{32}$/;

function endOf({ checkpoints }: ThreadStorage, run: RunRow): RunEnd {
  const id = checkpoints.lastOfRun(run.run_id);
  const checkpoint = id === null ? {} : { checkpoint: { id } };
  const { status, stop, error } = run;
  if (status === "success") {
    return { event: stop === null ? "completed" : "interrupted", ...checkpoint };
  }
  if (status === "interrupted") return { event: "interrupted", ...checkpoint };
  return { event: "failed", error: error ?? TIMED_OUT, ...checkpoint };
}

const TIMED_OUT = JSON.stringify({
  error: "TimeoutError",
  message: "The run took longer than a run may",
});
