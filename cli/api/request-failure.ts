import { jsonOrUndefined } from "../../src/lib/json.ts";
import { CliError } from "../cli-error.ts";

const MAX_DETAIL_CHARS = 2000;

/** Thrown for a response with a status other than 2xx. */
export class RequestFailure extends CliError {
  override name = "RequestFailure";
  readonly status: number;
  /** The error message in the response's body. */
  readonly detail: string;

  constructor(request: { method: string; path: string }, response: Response, body: string) {
    const detail = describeBody(body);
    const status = `${response.status} ${response.statusText}`.trim();
    super(`${request.method} ${request.path} was answered ${status}${detail && `: ${detail}`}`);
    this.status = response.status;
    this.detail = detail;
  }
}

/** Returns the error message when the body has one of the known forms of errors, or else the body itself. */
function describeBody(body: string): string {
  const text = describeJson(jsonOrUndefined(body)) ?? body.trim();
  return text.length > MAX_DETAIL_CHARS ? `${text.slice(0, MAX_DETAIL_CHARS)} ...` : text;
}

function describeJson(json: unknown): string | undefined {
  if (typeof json !== "object" || json === null) return undefined;
  const { detail, error } = json as { detail?: unknown; error?: unknown };
  if (typeof detail === "string") return detail;
  if (Array.isArray(detail) && detail.length > 0) return detail.map(describeProblem).join("; ");
  return typeof error === "string" ? error : undefined;
}

/** Formats one entry of an `HTTPValidationError`. */
function describeProblem(problem: unknown): string {
  const { loc, msg } = (problem ?? {}) as { loc?: unknown; msg?: unknown };
  if (typeof msg !== "string") return JSON.stringify(problem);
  const place = Array.isArray(loc) ? loc.filter((part) => part !== "body").join(".") : "";
  return place === "" ? msg : `${place}: ${msg}`;
}
