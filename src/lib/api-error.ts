export type ErrorCode =
  | "bad_request"
  | "unauthorized"
  | "forbidden"
  | "not_found"
  | "method_not_allowed"
  | "conflict"
  | "payload_too_large"
  | "unsupported_media_type"
  | "validation"
  | "rate_limited"
  | "internal"
  | "unavailable"
  | "timed_out"
  | "insufficient_storage";

/** One entry per refused field: `loc` is ["body" | "query" | "path" | "header", ...keys]. */
export type ValidationDetail = { loc: (string | number)[]; msg: string; type: string };

/**
 * The error that services and handlers throw to refuse a request. Each surface renders its own body from it, so
 * the code that throws it does not know the shape. `message` is shown to the client, except for "internal".
 */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: ErrorCode;
  readonly detail: unknown;

  constructor(
    code: ErrorCode,
    message: string,
    options: { detail?: unknown; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.detail = options.detail;
  }
}

/** An error for a field that passed the schema, but failed a check against other fields or against stored data. */
export function invalidField(loc: ValidationDetail["loc"], msg: string, type: string): ApiError {
  return new ApiError("validation", msg, { detail: [{ loc, msg, type }] });
}

/** A refusal decided by a project's own code, with the status, text and headers that the client receives. */
export class ProjectRefusal extends Error {
  override readonly name = "ProjectRefusal";
  readonly status: number;
  readonly headers: readonly { name: string; value: string }[];

  constructor(status: number, detail: string, headers: readonly { name: string; value: string }[]) {
    super(detail);
    this.status = status;
    this.headers = headers;
  }
}
