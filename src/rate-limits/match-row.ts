import { UUID_PATTERN } from "../lib/uuid.ts";
import { LIMIT_ROWS, type LimitRow } from "./policy.ts";

/**
 * The notation of a row's paths: `**` stands for any number of segments, including none, `{uuid}` for a UUID, and
 * any other segment for itself. A path may begin with a version, `/api/v1` or the control plane's `/v2`.
 */
const VERSION = "(?:/api/v1|/v2)?";
const SEGMENT: Readonly<Record<string, string>> = {
  "**": "(?:/[^/]*)*",
  "{uuid}": `/${UUID_PATTERN}`,
};

type Candidate = { row: LimitRow; paths: RegExp };

/** The methods that rows name. Clients can send any other method. */
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const ANY_OTHER = "any other";

/** Candidate rows by method, in the order in which they are tried. */
const CANDIDATES: ReadonlyMap<string, Candidate[]> = new Map(
  [...METHODS, ANY_OTHER].map((method) => [method, candidatesFor(method)]),
);

/**
 * Yields the rows that match a request, in the order of their precedence. `path` is the routed path. Callers check
 * whether the request has the value that a row counts by.
 */
export function* matchingRows(method: string, path: string): Generator<LimitRow> {
  const plain = plainPath(path);
  for (const { row, paths } of CANDIDATES.get(comparable(method)) ?? []) {
    if (paths.test(plain)) yield row;
  }
}

/** A HEAD request counts as a GET. */
function comparable(method: string): string {
  if (method === "HEAD") return "GET";
  return METHODS.includes(method) ? method : ANY_OTHER;
}

function candidatesFor(method: string): Candidate[] {
  const isFallback = ({ fallback }: LimitRow): boolean => fallback === true;
  const ordered = [
    ...LIMIT_ROWS.filter((row) => !isFallback(row)),
    ...LIMIT_ROWS.filter((row) => isFallback(row)),
  ];
  return ordered.flatMap((row) => {
    const paths = row.match.flatMap((match) =>
      match.method === undefined || match.method === method ? [patternOf(match.path)] : [],
    );
    if (paths.length === 0) return [];
    return [{ row, paths: new RegExp(`^${VERSION}(?:${paths.join("|")})$`) }];
  });
}

function patternOf(path: string): string {
  const segments = path.slice(1).split("/");
  return segments.map((segment) => SEGMENT[segment] ?? `/${segment}`).join("");
}

/**
 * Removes variations by which one path could be written in many ways: escapes, empty segments, a trailing slash.
 */
function plainPath(path: string): string {
  let decoded = path;
  try {
    decoded = decodeURIComponent(path);
  } catch {
    // The path is badly escaped, so it matches no route and is counted as it is.
  }
  return decoded.replaceAll(/\/{2,}/g, "/").replace(/(?<=.)\/$/, "");
}
