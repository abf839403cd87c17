import { setTimeout as sleep } from "node:timers/promises";
import type { Run } from "@langchain/langgraph-sdk";
import { messageTexts, type SlowInput, stepTexts } from "../../restart/support/slow-graph.ts";
import type { PlatformProcess } from "../../restart/support/platform-process.ts";
import { until } from "../../restart/support/until.ts";
import { acknowledgedBy, type Workload } from "./workload.ts";

const THREADS = 4;
const STEPS = 4;
const STEP_MS = 40;
const PAUSE_MS = 300;
const SETTLE_TIMEOUT_MS = 300_000;
const PAGE = 1000;

/** Makes runs on a few threads: each acknowledged run ends, and each of its steps is there once. */
export function runs(platform: PlatformProcess): Workload {
  const { client } = platform;
  const acknowledged = new Map<string, { threadId: string; label: string }>();

  async function onThread(thread: number, signal: AbortSignal): Promise<void> {
    const created = await acknowledgedBy(() => client.threads.create(), signal);
    if (created === null) return;
    const threadId = created.thread_id;
    for (let index = 0; !signal.aborted; index += 1) {
      const label = `t${thread}r${index}`;
      const input: SlowInput = { label, steps: STEPS, delay_ms: STEP_MS };
      const run = await acknowledgedBy(
        () => client.runs.create(threadId, "slow", { input, multitaskStrategy: "enqueue" }),
        signal,
      );
      if (run !== null) acknowledged.set(run.run_id, { threadId, label });
      await sleep(PAUSE_MS);
    }
  }

  async function runsOf(threadId: string) {
    return client.runs.list(threadId, { limit: PAGE });
  }

  return {
    name: "runs",
    acknowledged: () => acknowledged.size,
    run: async (signal) => {
      await Promise.all(Array.from({ length: THREADS }, (_, thread) => onThread(thread, signal)));
    },
    check: async (problems) => {
      const threadIds = new Set([...acknowledged.values()].map(({ threadId }) => threadId));
      for (const threadId of threadIds) {
        const ended = await until(
          async () => {
            const all = await runsOf(threadId);
            return all.every(({ status }) => status !== "pending" && status !== "running") && all;
          },
          SETTLE_TIMEOUT_MS,
          `the end of the runs of ${threadId}`,
        );
        const statuses = new Map(ended.map(({ run_id, status }) => [run_id, status]));
        for (const [runId, { threadId: of, label }] of acknowledged) {
          if (of !== threadId) continue;
          const status = statuses.get(runId);
          // A run that three kills have interrupted is given up with an error.
          if (status === "success" || status === "error") continue;
          problems.add("run", `run ${label} was acknowledged and is ${status ?? "not there"}`);
        }
        const texts = await messageTexts(client, threadId);
        for (const [label, { succeeded, all }] of countsByLabel(ended)) {
          for (const text of stepTexts({ label, steps: STEPS })) {
            const times = texts.filter((other) => other === text).length;
            // A run that is given up may have done any of its steps.
            if (times >= succeeded && times <= all) continue;
            problems.add("step", `"${text}" was done ${times} times, by ${all} runs`);
          }
        }
      }
    },
  };
}

/** Returns the number of runs with each label: a client that got no answer has made another one. */
function countsByLabel(runs: readonly Run[]): Map<string, { succeeded: number; all: number }> {
  const counts = new Map<string, { succeeded: number; all: number }>();
  for (const run of runs) {
    const { kwargs } = run as Run & { kwargs: { input: SlowInput } };
    const { label } = kwargs.input;
    const { succeeded, all } = counts.get(label) ?? { succeeded: 0, all: 0 };
    const isSuccess = run.status === "success" ? 1 : 0;
    counts.set(label, { succeeded: succeeded + isSuccess, all: all + 1 });
  }
  return counts;
}
