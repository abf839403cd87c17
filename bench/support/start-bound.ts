import { join } from "node:path";
import { REPO_ROOT } from "./paths.ts";
import { type StartedServer, startTellingServer } from "./server-process.ts";

/** Workers of `bench/counting` that do the least for a task, each with its binding of a Durable Object class. */
const BOUNDS = {
  discard: ["discard-worker.ts", "KEPT", "KeptObject"],
  least: ["least-worker.ts", "THREADS", "LeastThread"],
} as const;

/** Serves such a Worker in a workerd of its own, with the same options as the platform's. */
export function startBoundServer(
  bound: keyof typeof BOUNDS,
  stateDir: string,
): Promise<StartedServer> {
  const [main, binding, className] = BOUNDS[bound];
  return startTellingServer({
    args: [
      join(import.meta.dirname, "bound-process.ts"),
      stateDir,
      join(REPO_ROOT, "bench/counting", main),
      binding,
      className,
    ],
    cwd: REPO_ROOT,
  });
}
