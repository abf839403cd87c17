import { FAILURE_SUMMARY } from "../destinations/check-destination.ts";
import { S3Error, type S3Failure } from "../s3/s3-error.ts";

/** Why an attempt failed. Its message is shown to the user, unlike those of other errors. */
export class StepError extends Error {
  override readonly name: string = "StepError";
}

/** A failure that no other attempt can avoid. */
export class ExportImpossible extends StepError {
  override readonly name = "ExportImpossible";
}

/** Failures that may pass with time. The others have to be fixed by the bucket's owner. */
const TRANSIENT: ReadonlySet<S3Failure> = new Set(["unavailable", "clock_skew", "no_such_upload"]);

export type StepFailure = {
  /** The text that is stored in the export run's `errors`. */
  text: string;
  /** Whether another attempt may succeed. */
  retry: boolean;
  /** Whether changed credentials may help. */
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
