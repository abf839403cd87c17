import { ApiError, type ValidationDetail } from "../../../lib/api-error.ts";

/** The error format of RFC 9457; `errors` has one entry per rejected field. */
type ProblemDetails = {
  type: string;
  title: string;
  status: number;
  detail: string;
  instance: string;
  errors?: ValidationDetail[];
  request_id?: string;
};

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
  507: "Insufficient Storage",
};

/** Error types of requests that cannot be read at all: they get 400. Readable but unacceptable ones get 422. */
const UNREADABLE = new Set(["json_invalid", "missing", "filter_syntax", "cursor_syntax"]);

/** `status` is the status of the error elsewhere in the API. From 500 on, `detail` reveals nothing. */
export function problemDetails(
  error: Error,
  { status, path, requestId }: { status: number; path: string; requestId: string },
): ProblemDetails {
  const errors = error instanceof ApiError ? fieldErrors(error) : [];
  const unreadable = errors.some(({ type }) => UNREADABLE.has(type));
  const ownStatus = status === 422 && unreadable ? 400 : status;
  return {
    type: "about:blank",
    title: TITLES[ownStatus] ?? "Internal Server Error",
    status: ownStatus,
    detail: errors.length > 0 ? errors.map(sentence).join("; ") : textOf(error, status),
    instance: path,
    ...(errors.length > 0 ? { errors } : {}),
    ...(status >= 500 ? { request_id: requestId } : {}),
  };
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

/** Only shows messages that were written for the client. */
function textOf(error: Error, status: number): string {
  if (error instanceof ApiError && error.code !== "internal") return error.message;
  if (status === 503) return "Service overloaded, try again";
  return status >= 500 ? "Internal server error" : error.message;
}
