import { join } from "node:path";
import { REPO_ROOT } from "./paths.ts";
import { type StartedServer, startTellingServer } from "./server-process.ts";

/** Workers of `bench/counting` that do the least for a task, each with its bindings of Durable Object classes. */
const BOUNDS = {
  discard: { main: "discard-worker.ts", objects: { KEPT: "KeptObject" } },
  least: { main: "least-worker.ts", objects: { THREADS: "LeastThread" } },
  nothing: { main: "nothing-worker.ts", objects: {} },
  promises: {
    main: "promises-worker.ts",
    objects: {
      THREADS: "PromisesThread",
      INDEX: "IndexObject",
      TRACES: "TracesObject",
      RUN_IDS: "RunIdsObject",
    },
  },
} as const;

/** The workspace that a bound's D1 database has, with its key and with the assistant of a graph. */
export type BoundWorkspace = { workspaceId: string; apiKey: string; graphId: string };

/** What `bound-process.ts` gets as JSON. */
export type BoundOptions = {
  main: string;
  /** The names of Durable Object classes, by their bindings. */
  objects: Record<string, string>;
  workspace: BoundWorkspace | null;
};

/** Serves such a Worker in a workerd of its own, with the same options as the platform's. */
export function startBoundServer(
  bound: keyof typeof BOUNDS,
  stateDir: string,
  workspace: BoundWorkspace | null = null,
): Promise<StartedServer> {
  const { main, objects } = BOUNDS[bound];
  const options: BoundOptions = {
    main: join(REPO_ROOT, "bench/counting", main),
    objects,
    workspace,
  };
  return startTellingServer({
    args: [join(import.meta.dirname, "bound-process.ts"), stateDir, JSON.stringify(options)],
    cwd: REPO_ROOT,
  });
}
