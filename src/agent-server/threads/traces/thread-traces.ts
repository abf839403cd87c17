import { parseSettings } from "../../../env.ts";
import { scopeObjectName } from "../../../lib/object-names.ts";
import type { Scope } from "../../../lib/scope.ts";
import { regionalObject } from "../../../regions/regional-object.ts";
import { RunTraces, type RunTracesDeps } from "./run-traces.ts";
import type { ThreadStorage } from "../storage/thread-storage.ts";
import { TraceEnds } from "./trace-ends.ts";

type ThreadTracesDeps = {
  storage: ThreadStorage;
  scope: () => Scope;
  waitUntil: (promise: Promise<void>) => void;
  /** Called when the end of a root run was recorded. */
  onRootEnd: () => void;
};

/**
 * The traces of a thread's runs: batches on their way to the tracing half, and ends that are still to be recorded.
 */
export type ThreadTraces = { runs: RunTraces; ends: TraceEnds };

/** Returns null if the installation does not record traces of runs. */
export function threadTraces(env: Env, deps: ThreadTracesDeps): ThreadTraces | null {
  const { recordTraces, logLevel } = parseSettings(env);
  if (!recordTraces) return null;
  const { storage, scope, waitUntil, onRootEnd } = deps;
  const record: RunTracesDeps["record"] = async (to, batch) => {
    const recorder = regionalObject(env, "TRACE_RECORDER", scopeObjectName(to));
    const result = await recorder.record(to, batch);
    if (!result.ok) throw new Error(result.error);
    return result;
  };
  const ends = new TraceEnds({ storage, scope, record, now: () => Date.now(), logLevel });
  const runs = new RunTraces({
    scope,
    record,
    waitUntil,
    onRootEnd: (runId) => {
      ends.told(runId);
      onRootEnd();
    },
    logLevel,
  });
  return { runs, ends };
}
