/** One run of a request that was not stored, while the others were. */
export type RunFailure = {
  /** Null when the request does not even say which run it is. */
  runId: string | null;
  /** The field, part or position that is wrong. */
  field: string;
  message: string;
  /** 404: it refers to something that is not there. 422: it is not well-formed. */
  status: 404 | 422;
};

/** One run that is refused; `field` is "" when it is not even an object. */
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

/** `place` says where in the request the run is: `post[3]`, or the name of a part. */
export function toRunFailure(place: string, error: InvalidRun): RunFailure {
  const field = error.field === "" ? place : `${place}.${error.field}`;
  return malformedRun(error.runId ?? null, field, error.message);
}

/** Something that is not well-formed, whether or not it says which run it is of. */
export function malformedRun(runId: string | null, field: string, message: string): RunFailure {
  return { runId, field, message: `${field}: ${message}`, status: 422 };
}
