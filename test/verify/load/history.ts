import type { PlatformProcess } from "../../restart/support/platform-process.ts";
import { callTo } from "../kills/workload.ts";
import type { PartResult, Problems } from "../part.ts";

const CHECKPOINTS = 10_000;
const PAGE = 500;

type State = { values: { done?: number }; checkpoint: { checkpoint_id: string } };

/** Checks that pages through ten thousand checkpoints of a thread contain each of them once, newest first. */
export async function longHistory(
  platform: PlatformProcess,
  problems: Problems,
): Promise<PartResult["figures"]> {
  const call = callTo(platform);
  const { thread_id } = (await call("POST", "/threads", {
    metadata: { graph_id: "slow" },
    supersteps: Array.from({ length: CHECKPOINTS }, (_, done) => ({
      updates: [{ values: { done }, as_node: "step" }],
    })),
  })) as { thread_id: string };
  const done: (number | undefined)[] = [];
  let slowestMs = 0;
  let before: string | undefined;
  for (;;) {
    const startedAt = performance.now();
    const path = `/threads/${thread_id}/history`;
    const page = (await call("POST", path, { limit: PAGE, before })) as State[];
    slowestMs = Math.max(slowestMs, performance.now() - startedAt);
    if (page.length === 0) break;
    done.push(...page.map(({ values }) => values.done));
    before = page.at(-1)?.checkpoint.checkpoint_id;
  }
  const isWhole =
    done.length === CHECKPOINTS && done.every((n, index) => n === CHECKPOINTS - 1 - index);
  if (!isWhole) problems.add("history", `${done.length} checkpoints, or not in their order`);
  return [
    ["checkpoints of a thread", String(done.length)],
    [`slowest page of ${PAGE} states`, `${Math.round(slowestMs)} ms`],
  ];
}
