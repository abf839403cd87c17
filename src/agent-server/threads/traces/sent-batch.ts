/** A part of a run's trace. */
export type SentBatch = {
  /** The text of TraceOperations. The host of a deployment is its own code, so it may be any text. */
  json: string;
  run_id: string;
  /** The example of a dataset that the run belongs to. */
  example_id: string | null;
  /** The project's name; null for that of the deployment. */
  project: string | null;
};

/** `endsRun` is whether the batch contained the end of the run's root. */
export type RecordResult = { ok: true; endsRun: boolean } | { ok: false; error: string };
