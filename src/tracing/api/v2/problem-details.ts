import { ApiError, type ValidationDetail } from "../../../lib/api-error.ts";

/** RFC 9457; `errors` is one entry per refused field. */
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

/** What of a request cannot be read at all is 400; what can, and is not acceptable, is 422. */
const UNREADABLE = new Set(["json_invalid", "missing", "filter_syntax", "cursor_syntax"]);

/** `status` is what the error is answered with elsewhere; of 500 and above, `detail` tells nothing. */
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

/** Only what was thrown for the client to read is shown. */
function textOf(error: Error, status: number): string {
  if (error instanceof ApiError && error.code !== "internal") return error.message;
  if (status === 503) return "Service overloaded, try again";
  return status >= 500 ? "Internal server error" : error.message;
}
