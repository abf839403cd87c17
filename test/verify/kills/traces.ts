import { endOf, type RunData, traceOf } from "../../support/trace-data.ts";
import type { PlatformProcess } from "../../restart/support/platform-process.ts";
import { acknowledgedBy, callTo, type Workload } from "./workload.ts";

const CLIENTS = 2;
const RUNS_PER_REQUEST = 4;
const PROJECT = "verified";

type Page = { runs: RunData[]; cursors: { next: string | null } };

/** Sends traces from a few clients: each acknowledged run is there once, and complete. */
export function traces(platform: PlatformProcess): Workload {
  const call = callTo(platform);
  const acknowledged = new Map<string, RunData>();

  async function send(client: number, signal: AbortSignal): Promise<void> {
    for (let index = 0; !signal.aborted; index += 1) {
      const post = traceOf(PROJECT, `${client}/${index}`, RUNS_PER_REQUEST);
      const patch = post.map(endOf);
      const sent = await acknowledgedBy(
        () => call("POST", "/api/v1/runs/batch", { post, patch }),
        signal,
      );
      if (sent !== null) for (const run of post) acknowledged.set(run.id, run);
    }
  }

  return {
    name: "traces",
    acknowledged: () => acknowledged.size,
    run: async (signal) => {
      await Promise.all(Array.from({ length: CLIENTS }, (_, client) => send(client, signal)));
    },
    check: async (problems) => {
      const found = new Map<string, RunData>();
      const [project] = (await call("GET", `/api/v1/sessions?name=${PROJECT}`)) as { id: string }[];
      let cursor: string | null = null;
      do {
        const body = { session: [project?.id], select: ["inputs", "outputs"], cursor };
        const page = (await call("POST", "/api/v1/runs/query", body)) as Page;
        for (const run of page.runs) {
          if (found.has(run.id)) problems.add("doubled", `run ${run.id} is there twice`);
          found.set(run.id, run);
        }
        cursor = page.cursors.next;
      } while (cursor !== null);
      for (const run of acknowledged.values()) {
        const stored = found.get(run.id);
        const isWhole =
          JSON.stringify(stored?.["inputs"]) === JSON.stringify(run["inputs"]) &&
          JSON.stringify(stored?.["outputs"]) === JSON.stringify({ echo: run["inputs"] });
        if (!isWhole) problems.add("trace", `run ${run.name} is not as it was acknowledged`);
      }
    },
  };
}
