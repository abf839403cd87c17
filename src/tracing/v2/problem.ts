import { renderDetail } from "../../http/render-errors.ts";
import type { AppContext } from "../../http/app-types.ts";
import { ApiError, type ValidationDetail } from "../../http/errors.ts";

const TITLES: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  409: "Conflict",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  422: "Unprocessable Content",
  429: "Too Many Requests",
  503: "Service Unavailable",
};

/** What of a request cannot be read at all is 400; what can, and is not acceptable, is 422. */
const UNREADABLE = new Set(["json_invalid", "missing", "filter_syntax", "cursor_syntax"]);

/**
 * The error as RFC 9457 problem details: `application/problem+json` with `type`, `title`, `status`,
 * `detail` and `instance`, for validation also `errors`, one per field, and for what was not
 * foreseen the `request_id` under which it is in the log.
 */
export function renderProblem(error: Error, c: AppContext): Response {
  // Decides the status of every error, and logs what was not foreseen.
  const plain = renderDetail(error, c);
  const errors = error instanceof ApiError ? fieldErrors(error) : [];
  const unreadable = errors.some(({ type }) => UNREADABLE.has(type));
  const status = plain.status === 422 && unreadable ? 400 : plain.status;
  const problem = {
    type: "about:blank",
    title: TITLES[status] ?? "Internal Server Error",
    status,
    detail: errors.length > 0 ? errors.map(sentence).join("; ") : textOf(error, status),
    instance: c.req.path,
    ...(errors.length > 0 ? { errors } : {}),
    ...(status >= 500 ? { request_id: c.var.requestId } : {}),
  };
  const headers = new Headers(plain.headers);
  headers.set("content-type", "application/problem+json");
  return new Response(JSON.stringify(problem), { status, headers });
}

function fieldErrors({ detail }: ApiError): ValidationDetail[] {
  return Array.isArray(detail) ? detail.filter(isFieldError) : [];
}

function isFieldError(value: unknown): value is ValidationDetail {
  return typeof value === "object" && value !== null && "loc" in value && "msg" in value;
}

function sentence({ loc, msg }: ValidationDetail): string {
  const [source, ...path] = loc;
  return `${path.length === 0 ? source : path.join(".")}: ${msg}`;
}

/** Only what was thrown for the client to read is shown. */
function textOf(error: Error, status: number): string {
  if (error instanceof ApiError && error.code !== "internal") return error.message;
  if (status === 503) return "Service overloaded, try again";
  return status >= 500 ? "Internal server error" : error.message;
}
