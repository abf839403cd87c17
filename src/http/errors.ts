import type { ErrorCode } from "../lib/api-error.ts";

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
