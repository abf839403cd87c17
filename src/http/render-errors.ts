import { ApiError, type ErrorCode, ProjectRefusal } from "../lib/api-error.ts";
import type { Context } from "hono";
import { HTTPException } from "hono/http-exception";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { log } from "../lib/log.ts";
import type { AppEnv } from "./app-types.ts";
import { loggedRoute } from "./request-log.ts";

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

/**
 * Renders an error in the agent server's shape: `{"detail": "<text>"}`, and for validation `{"detail": [{"loc",
 * "msg", "type"}]}`. Unforeseen errors are logged with the request's id, and their message is not part of the
 * response.
 */
export function renderDetail(error: Error, c: Context<AppEnv>): Response {
  if (error instanceof ApiError && error.code !== "internal") {
    return c.json({ detail: error.detail ?? error.message }, STATUS_OF[error.code]);
  }
  if (error instanceof ProjectRefusal) {
    for (const { name, value } of error.headers) c.header(name, value, { append: true });
    return c.json({ detail: error.message }, error.status as ContentfulStatusCode);
  }
  if (error instanceof HTTPException && error.status < 500) {
    return c.json({ detail: error.message }, error.status);
  }
  log("error", "error", {
    event: "unhandled_error",
    request_id: c.var.requestId,
    method: c.req.method,
    ...loggedRoute(c),
    error: error.stack ?? String(error),
    cause: error.cause instanceof Error ? error.cause.stack : undefined,
  });
  const request_id = c.var.requestId;
  if (isOverload(error))
    return c.json({ detail: "Service overloaded, try again", request_id }, 503);
  return c.json({ detail: "Internal server error", request_id }, 500);
}

/** The platform marks the errors that it raises when an object cannot take more requests. */
function isOverload(error: Error): boolean {
  return "overloaded" in error && error.overloaded === true;
}
