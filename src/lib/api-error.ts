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
 * What a service or a handler throws when it refuses a request. Each surface makes its own body of it, so the
 * thrower does not know the shape. `message` is shown to the client, except for "internal".
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

/** A refused field that no schema could find: a check between fields, or against what is stored. */
export function invalidField(loc: ValidationDetail["loc"], msg: string, type: string): ApiError {
  return new ApiError("validation", msg, { detail: [{ loc, msg, type }] });
}

/** A refusal that a project's own code decided on, with its status, its text and headers for the client. */
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
