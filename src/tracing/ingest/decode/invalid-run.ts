/** One run of a request that was not stored, while the others were. */
export type RunFailure = {
  /** Null if the request does not name the run. */
  runId: string | null;
  /** The invalid field, part or position. */
  field: string;
  message: string;
  /** 404 if the run refers to something that does not exist, 422 if it is malformed. */
  status: 404 | 422;
};

/** The error of one refused run; `field` is "" if the run is not even an object. */
export class InvalidRun extends Error {
  override readonly name = "InvalidRun";
  readonly runId: string | undefined;
  readonly field: string;

  constructor(runId: string | undefined, field: string, message: string) {
    super(message);
    this.runId = runId;
    this.field = field;
  }
}

/** `place` is the position of the run in the request: `post[3]`, or the name of a part. */
export function toRunFailure(place: string, error: InvalidRun): RunFailure {
  const field = error.field === "" ? place : `${place}.${error.field}`;
  return malformedRun(error.runId ?? null, field, error.message);
}

/** Returns the failure of something malformed; `runId` is null if it does not name its run. */
export function malformedRun(runId: string | null, field: string, message: string): RunFailure {
  return { runId, field, message: `${field}: ${message}`, status: 422 };
}
