import { FAILURE_SUMMARY } from "../destinations/check-destination.ts";
import { S3Error, type S3Failure } from "../s3/s3-error.ts";

/** Why an attempt failed. Its message is shown to the user, those of other errors are not. */
export class StepError extends Error {
  override readonly name: string = "StepError";
}

/** What no other attempt can mend. */
export class ExportImpossible extends StepError {
  override readonly name = "ExportImpossible";
}

/** What may pass with time; the rest is for the bucket's owner to mend. */
const TRANSIENT: ReadonlySet<S3Failure> = new Set(["unavailable", "clock_skew", "no_such_upload"]);

export type StepFailure = {
  /** What the `errors` of the export run tell. */
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
  if (error instanceof StepError) {
    return { text: error.message, retry: !(error instanceof ExportImpossible), credentials: false };
  }
  return { text: "Internal error", retry: true, credentials: false };
}
