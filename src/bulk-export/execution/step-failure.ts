import { FAILURE_SUMMARY } from "../destinations/failure-summary.ts";
import { S3Error, type S3Failure } from "../s3/s3-error.ts";

/** What no other attempt can mend. Its message is shown to the user. */
export class ExportImpossible extends Error {
  override readonly name = "ExportImpossible";
}

/** An attempt that ran for too long. */
export class AttemptTimedOut extends Error {
  override readonly name = "AttemptTimedOut";
}

/** What may pass with time; the rest is for the bucket's owner to mend. */
const TRANSIENT: ReadonlySet<S3Failure> = new Set(["unavailable", "clock_skew", "no_such_upload"]);

export type StepFailure = {
  /** For the `errors` of the export run. */
  text: string;
  /** Whether another attempt may succeed. */
  retry: boolean;
  /** Whether other credentials may help. */
  credentials: boolean;
};

export function describeFailure(error: unknown): StepFailure {
  if (error instanceof S3Error) {
    const retry = TRANSIENT.has(error.failure);
    return {
      text: retry ? error.message : `${error.message}: ${FAILURE_SUMMARY[error.failure]}`,
      retry,
      credentials: error.failure === "access_denied" || error.failure === "unknown_key_id",
    };
  }
  const text = error instanceof Error ? error.message : String(error);
  return { text, retry: !(error instanceof ExportImpossible), credentials: false };
}
