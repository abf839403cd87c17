/** The settings under `http` and `ui` in a project's `langgraph.json`, as a graph host describes them. */

/**
 * Patterns of header names, in which `*` stands for any characters. A name that is excluded stays excluded,
 * even if `includes` matches it.
 */
export type HeaderChoice = { includes: string[]; excludes: string[] };

export type CorsInfo = {
  /** Null allows every origin. */
  allow_origins: string[] | null;
  /** Whether the project has a pattern of origins, in which case the host is asked with `allowsOrigin`. */
  has_origin_pattern: boolean;
  allow_methods: string[] | null;
  allow_headers: string[] | null;
  allow_credentials: boolean;
  expose_headers: string[];
  max_age: number | null;
};

export const DISABLEABLE = [
  "assistants",
  "threads",
  "runs",
  "store",
  "meta",
  "webhooks",
  "mcp",
  "a2a",
  "ui",
] as const;

export type Disableable = (typeof DISABLEABLE)[number];

export type HttpInfo = {
  /** Whether the project has an app of its own, which the host's `fetch` calls. */
  app: boolean;
  /** Whether requests to the app need the same authentication as requests to the agent server. */
  app_auth: boolean;
  disabled: Disableable[];
  /** A prefix such as "/base", under which all paths are served as well. */
  mount_prefix: string | null;
  /** The request headers that are copied into a run's `configurable`. */
  configurable_headers: HeaderChoice | null;
  /** The request headers that are logged. */
  logging_headers: HeaderChoice | null;
  cors: CorsInfo | null;
};

/** A response header by which the app reports that it has no route for the request. */
export const NO_ROUTE_HEADER = "x-threadworks-no-route";
