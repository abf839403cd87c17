import { S3Error, type S3Failure } from "../s3/s3-error.ts";

/** What no other attempt can mend. Its message is shown to the user. */
export class ExportImpossible extends Error {
  override readonly name = "ExportImpossible";
}

/** An attempt that ran for too long. */
export class AttemptTimedOut extends Error {
  override readonly name = "AttemptTimedOut";
}

/** What of a bucket's answers is for its owner to mend, and so not worth another attempt. */
const TEXT_OF: Partial<Record<S3Failure, string>> = {
  access_denied: "Access denied",
  invalid_bucket: "Bucket is not valid",
  unknown_key_id: "Key ID you provided does not exist",
  invalid_endpoint: "Invalid endpoint",
};

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
    const reason = TEXT_OF[error.failure];
    return {
      text: reason === undefined ? error.message : `${error.message}: ${reason}`,
      retry: reason === undefined,
      credentials: error.failure === "access_denied" || error.failure === "unknown_key_id",
    };
  }
  const text = error instanceof Error ? error.message : String(error);
  return { text, retry: !(error instanceof ExportImpossible), credentials: false };
}
