import { UUID_PATTERN } from "../lib/uuid.ts";
import { LIMIT_ROWS, type LimitRow } from "./policy.ts";

/**
 * Paths of rows: `**` stands for any number of segments, none too, `{uuid}` for a UUID, all else for
 * itself. The version that a path begins with, `/api/v1` or the control plane's `/v2`, may be there.
 */
const VERSION = "(?:/api/v1|/v2)?";
const SEGMENT: Readonly<Record<string, string>> = {
  "**": "(?:/[^/]*)*",
  "{uuid}": `/${UUID_PATTERN}`,
};

type Candidate = { row: LimitRow; paths: RegExp };

/** Rows name no others; clients can make up any number. */
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const ANY_OTHER = "any other";

/** By method, in the order in which they are tried. */
const CANDIDATES: ReadonlyMap<string, Candidate[]> = new Map(
  [...METHODS, ANY_OTHER].map((method) => [method, candidatesFor(method)]),
);

/**
 * The rows that match a request, in the order in which they count it. `path` is the one by which it
 * is routed. Whether the request has what a row counts by is for the caller to see.
 */
export function* matchingRows(method: string, path: string): Generator<LimitRow> {
  const plain = plainPath(path);
  for (const { row, paths } of CANDIDATES.get(comparable(method)) ?? []) {
    if (paths.test(plain)) yield row;
  }
}

/** What is looked up by a GET is looked up by a HEAD. */
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

/** Without what would let one path be written in many ways: escapes, empty segments, a slash at its end. */
function plainPath(path: string): string {
  let decoded = path;
  try {
    decoded = decodeURIComponent(path);
  } catch {
    // The path is badly escaped, so no route has it, and it is counted as it is.
  }
  return decoded.replaceAll(/\/{2,}/g, "/").replace(/(?<=.)\/$/, "");
}
