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

export const STATUS_OF = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  validation: 422,
  rate_limited: 429,
  internal: 500,
  unavailable: 503,
  timed_out: 504,
  insufficient_storage: 507,
} as const satisfies Record<ErrorCode, number>;

/** One entry per refused field: `loc` is ["body" | "query" | "path" | "header", ...keys]. */
export type ValidationDetail = { loc: (string | number)[]; msg: string; type: string };

/**
 * What a handler throws to answer with an error. Each surface makes its own body of it, so the
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

/** A refusal that a project's own code decided on, with its status and text. */
export class ProjectRefusal extends Error {
  override readonly name = "ProjectRefusal";
  readonly status: number;

  constructor(status: number, detail: string) {
    super(detail);
    this.status = status;
  }
}
