/** The value by which requests are counted: the API key, `X-User-Id` with the client's address, or the address. */
export type CountedBy = "api-key" | "user" | "ip";

/** At most `count` requests within any span of `seconds`. */
export type Limit = { count: number; seconds: number };

/** Without `method`, every method matches. The notation of `path` is described in `match-row.ts`. */
type Match = { method?: string; path: string };

export type LimitRow = {
  /** The unique name of the limit in headers, in overrides and in the names of objects. */
  name: string;
  match: readonly Match[];
  by: CountedBy;
  us: Limit;
  eu: Limit;
  category: string;
  /** Tried after all other rows, regardless of its position. */
  fallback?: true;
};

function per(seconds: number, count: number): Limit {
  return { count, seconds };
}

function everywhere(limit: Limit): Pick<LimitRow, "us" | "eu"> {
  return { us: limit, eu: limit };
}

const AUTH = [{ path: "/auth/**" }];
const REPOS = [{ path: "/repos/**" }];
const CHARTS = [{ method: "POST", path: "/**/charts/**" }];
const RUNS_QUERY = [
  { method: "POST", path: "/runs/query" },
  { method: "POST", path: "/api/v2/runs/query" },
];
const GENERATE = [{ path: "/generate/**" }];
const COMMITS = [{ path: "/commits/**" }];
const DELETION = [{ method: "DELETE", path: "/sessions/**" }, { path: "/**/trigger" }];

/** The limits of the platform API. The order matters: the first matching row counts a request. */
export const LIMIT_ROWS: readonly LimitRow[] = [
  {
    name: "service",
    match: [
      { method: "OPTIONS", path: "/**" },
      { path: "/info" },
      { path: "/**/v1/metadata/submit" },
    ],
    by: "ip",
    ...everywhere(per(10, 2000)),
    category: "High throughput",
  },
  {
    name: "auth",
    match: AUTH,
    by: "api-key",
    ...everywhere(per(10, 2000)),
    category: "High throughput",
  },
  {
    name: "auth-user",
    match: AUTH,
    by: "user",
    ...everywhere(per(10, 2000)),
    category: "High throughput",
  },
  {
    name: "beacon",
    match: [{ path: "/v1/beacon" }],
    by: "ip",
    ...everywhere(per(10, 2000)),
    category: "High throughput",
  },
  {
    name: "repos",
    match: REPOS,
    by: "api-key",
    ...everywhere(per(60, 100)),
    category: "Repository",
  },
  {
    name: "repos-user",
    match: REPOS,
    by: "user",
    ...everywhere(per(60, 100)),
    category: "Repository",
  },
  {
    name: "runs-batch",
    match: [{ method: "POST", path: "/runs/batch" }],
    by: "api-key",
    ...everywhere(per(10, 2000)),
    category: "High throughput",
  },
  {
    name: "otlp",
    match: [{ method: "POST", path: "/otel/v1/traces" }],
    by: "api-key",
    ...everywhere(per(10, 2000)),
    category: "Run ingest",
  },
  {
    name: "charts",
    match: CHARTS,
    by: "api-key",
    ...everywhere(per(600, 750)),
    category: "Charts",
  },
  {
    name: "charts-user",
    match: CHARTS,
    by: "user",
    ...everywhere(per(600, 750)),
    category: "Charts",
  },
  {
    name: "runs-multipart",
    match: [{ method: "POST", path: "/runs/multipart" }],
    by: "api-key",
    ...everywhere(per(10, 6000)),
    category: "Multipart ingest",
  },
  {
    name: "runs-query",
    match: RUNS_QUERY,
    by: "api-key",
    ...everywhere(per(10, 15)),
    category: "Run query (API)",
  },
  {
    name: "runs-query-user",
    match: RUNS_QUERY,
    by: "user",
    ...everywhere(per(10, 300)),
    category: "Run query (User)",
  },
  {
    name: "generate",
    match: GENERATE,
    by: "api-key",
    ...everywhere(per(3600, 30)),
    category: "Generation",
  },
  {
    name: "generate-user",
    match: GENERATE,
    by: "user",
    ...everywhere(per(3600, 30)),
    category: "Generation",
  },
  {
    name: "commits",
    match: COMMITS,
    by: "api-key",
    us: per(60, 10_000),
    eu: per(60, 2000),
    category: "Commits",
  },
  {
    name: "commits-user",
    match: COMMITS,
    by: "user",
    us: per(60, 10_000),
    eu: per(60, 2000),
    category: "Commits",
  },
  {
    name: "deletion",
    match: DELETION,
    by: "api-key",
    ...everywhere(per(60, 10)),
    category: "Deletion",
  },
  {
    name: "deletion-user",
    match: DELETION,
    by: "user",
    ...everywhere(per(60, 30)),
    category: "Deletion",
  },
  {
    name: "runs-create",
    match: [{ method: "POST", path: "/runs" }],
    by: "api-key",
    ...everywhere(per(10, 2000)),
    category: "Run ingest",
  },
  {
    name: "runs-update",
    match: [{ method: "PATCH", path: "/**/runs/**" }],
    by: "api-key",
    ...everywhere(per(10, 2000)),
    category: "Run ingest",
  },
  {
    name: "feedback",
    match: [{ method: "POST", path: "/feedback" }],
    by: "api-key",
    ...everywhere(per(10, 2000)),
    category: "High throughput",
  },
  {
    name: "run-lookup",
    match: [{ method: "GET", path: "/runs/{uuid}" }],
    by: "api-key",
    ...everywhere(per(60, 30)),
    category: "Run lookup",
  },
  {
    name: "examples",
    match: [{ method: "GET", path: "/**/examples/**" }],
    by: "api-key",
    ...everywhere(per(60, 5000)),
    category: "Examples",
  },
  {
    // GitHub sends the webhooks of all users from few addresses.
    name: "github-webhook",
    match: [{ method: "POST", path: "/deployments/{uuid}/github-webhook" }],
    by: "ip",
    ...everywhere(per(10, 1000)),
    category: "Webhooks",
  },
  {
    name: "default",
    match: [{ path: "/**" }],
    by: "api-key",
    ...everywhere(per(10, 1000)),
    category: "Default (API key)",
    fallback: true,
  },
  {
    name: "default-user",
    match: [{ path: "/**" }],
    by: "user",
    ...everywhere(per(10, 1000)),
    category: "Default (User)",
    fallback: true,
  },
  {
    name: "public-download",
    match: [{ path: "/public/download/**" }],
    by: "ip",
    ...everywhere(per(60, 5000)),
    category: "Public download",
  },
  {
    name: "runs-stats",
    match: [{ path: "/runs/stats" }],
    by: "api-key",
    us: per(10, 1),
    eu: per(10, 20),
    category: "Stats",
  },
  {
    name: "public",
    match: [{ path: "/**" }],
    by: "ip",
    ...everywhere(per(60, 100)),
    category: "Public (catch-all)",
    fallback: true,
  },
];
