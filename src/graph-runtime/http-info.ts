/** What a project's `langgraph.json` says under `http` and `ui`, as a graph host tells it. */

/** Names of headers, in which `*` stands for any characters. What is excluded is so whatever includes it. */
export type HeaderChoice = { includes: string[]; excludes: string[] };

export type CorsInfo = {
  /** Null: every origin. */
  allow_origins: string[] | null;
  /** Whether the host is to be asked by `allowsOrigin`, because the project has a pattern of origins. */
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
  /** The project has an app of its own, which the host's `fetch` asks. */
  app: boolean;
  /** Whether only those reach the app who may use the agent server. */
  app_auth: boolean;
  disabled: Disableable[];
  /** The paths are served below it, too: "/base". */
  mount_prefix: string | null;
  /** Which request headers a run finds in its `configurable`. */
  configurable_headers: HeaderChoice | null;
  /** Which request headers the log tells. */
  logging_headers: HeaderChoice | null;
  cors: CorsInfo | null;
};

/** By this header of an answer the app says that it has no such route. */
export const NO_ROUTE_HEADER = "x-threadworks-no-route";
