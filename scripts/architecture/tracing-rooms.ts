import type { Room } from "./room.ts";

/** The rooms of tracing below its API. */
export const TRACING_FLOORS = [
  "tracing/model",
  "tracing/usage",
  "tracing/filter",
  "tracing/shard",
  "tracing/run-index",
  "tracing/projects",
  "tracing/feedback",
  "tracing/ingest/decode",
  "tracing/ingest/otlp",
  "tracing/ingest",
  "tracing/query",
] as const;

/** The rooms of tracing, from the model of a run at the bottom to what the app mounts. */
export const TRACING_ROOMS: readonly Room[] = [
  {
    name: "tracing/model",
    paths: ["src/tracing/model"],
    holds: "the model of a run: its writes, rows, pages and dotted order",
    mayImport: ["lib"],
  },
  {
    name: "tracing/usage",
    paths: ["src/tracing/usage"],
    holds: "tokens, costs, and prices, both built-in and a workspace's own",
    mayImport: ["tracing/model", "db", "lib"],
  },
  {
    name: "tracing/filter",
    paths: ["src/tracing/filter"],
    holds: "the filter language, and its translation to SQL",
    mayImport: ["tracing/model", "db", "lib"],
  },
  {
    name: "tracing/shard",
    paths: ["src/tracing/shard"],
    holds: "the object with the runs of a project's day: tables, writes, reads, retention",
    mayImport: ["tracing/model", "tracing/usage", "tracing/filter", "db", "regions", "env", "lib"],
  },
  {
    name: "tracing/run-index",
    paths: ["src/tracing/run-index"],
    holds: "the index of run ids, which knows the shard of each run",
    mayImport: ["tracing/shard", "regions", "lib"],
  },
  {
    name: "tracing/projects",
    paths: ["src/tracing/projects"],
    holds: "projects, and their cache in each isolate",
    mayImport: ["tracing/shard", "db", "lib"],
  },
  {
    name: "tracing/feedback",
    paths: ["src/tracing/feedback"],
    holds: "feedback, and its copies next to the runs",
    mayImport: [
      "tracing/model",
      "tracing/shard",
      "tracing/run-index",
      "tracing/projects",
      "db",
      "lib",
    ],
  },
  {
    name: "tracing/ingest/decode",
    paths: ["src/tracing/ingest/decode"],
    holds: "the conversion of the bytes of a request to writes of runs",
    mayImport: ["tracing/model", "tracing/usage", "lib"],
  },
  {
    name: "tracing/ingest/otlp",
    paths: ["src/tracing/ingest/otlp"],
    holds: "the conversion of OpenTelemetry spans to writes of runs",
    mayImport: ["tracing/model", "tracing/ingest/decode", "lib"],
  },
  {
    name: "tracing/ingest",
    paths: ["src/tracing/ingest"],
    holds:
      "storing of decoded writes with their payloads and feedback; spans that wait for their parents",
    mayImport: [
      "tracing/ingest/decode",
      "tracing/ingest/otlp",
      "tracing/model",
      "tracing/usage",
      "tracing/shard",
      "tracing/run-index",
      "tracing/projects",
      "tracing/feedback",
      "db",
      "regions",
      "env",
      "lib",
    ],
  },
  {
    name: "tracing/query",
    paths: ["src/tracing/query"],
    holds:
      "queries for runs, statistics and threads over all shards; runs that are shared without a key",
    mayImport: [
      "tracing/model",
      "tracing/filter",
      "tracing/shard",
      "tracing/run-index",
      "db",
      "lib",
    ],
  },
  {
    name: "tracing/api",
    paths: ["src/tracing/api"],
    holds: "shared parts of both versions of the tracing API: JSON, links, public shares",
    mayImport: [...TRACING_FLOORS, "http", "identity", "secrets", "db", "lib"],
    web: "all",
  },
  {
    name: "tracing/api/v1",
    paths: ["src/tracing/api/v1"],
    holds: "routes, schemas and JSON of version 1",
    mayImport: ["tracing/api", ...TRACING_FLOORS, "http", "identity", "db", "lib"],
    web: "all",
  },
  {
    name: "tracing/api/v2",
    paths: ["src/tracing/api/v2"],
    holds: "routes, schemas and JSON of version 2",
    mayImport: ["tracing/api", ...TRACING_FLOORS, "http", "identity", "db", "lib"],
    web: "all",
  },
  {
    name: "tracing/doors",
    paths: ["src/tracing/{record,export,deployment-project,feedback-links}.ts"],
    holds: "the functions of tracing for other capabilities, in one file for each",
    mayImport: [...TRACING_FLOORS, "db", "lib"],
  },
  {
    name: "tracing",
    paths: ["src/tracing"],
    holds: "the routes and sweep tasks of tracing that the app mounts",
    mayImport: [
      "tracing/api",
      "tracing/api/v1",
      "tracing/api/v2",
      ...TRACING_FLOORS,
      "http",
      "identity",
      "db",
      "lib",
    ],
    web: "all",
  },
];
