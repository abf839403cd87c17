import { regionalObject } from "../../regions/regional-object.ts";
import { findParents, type KnownParent } from "./known-parents.ts";
import type { HeldSpan } from "./held-spans-object.ts";

/** An object for each last digit of a trace id: a span and its parent meet in the same one. */
const PARTITIONS = Array.from({ length: 16 }, (_, digit) => digit.toString(16));

type HeldEnv = Pick<Env, "HELD_SPANS" | "JURISDICTION" | "RUN_INDEX" | "RUN_SHARDS">;

/** Holds spans, and lets go those below runs that were just stored; by the trace id of each. */
export async function holdSpans(
  env: HeldEnv,
  workspaceId: string,
  held: readonly { traceId: string; span: HeldSpan }[],
  stored: readonly { traceId: string; parent: KnownParent }[],
): Promise<void> {
  const partitions = new Set([...held, ...stored].map(({ traceId }) => traceId.slice(-1)));
  await Promise.all(
    [...partitions].map((partition) =>
      stubOf(env, workspaceId, partition).hold(
        workspaceId,
        held.filter(({ traceId }) => traceId.endsWith(partition)).map(({ span }) => span),
        stored.filter(({ traceId }) => traceId.endsWith(partition)).map(({ parent }) => parent),
      ),
    ),
  );
}

/** Lets go what is held below runs that came in another way than as spans. */
export async function releaseHeldSpans(
  env: HeldEnv,
  workspaceId: string,
  runIds: readonly string[],
): Promise<void> {
  const parents = await findParents(
    env,
    workspaceId,
    runIds.map((runId) => ({ runId, ifRoot: null })),
  );
  await Promise.all(
    PARTITIONS.map((partition) =>
      stubOf(env, workspaceId, partition).hold(workspaceId, [], parents),
    ),
  );
}

function stubOf(env: HeldEnv, workspaceId: string, partition: string) {
  return regionalObject(env, "HELD_SPANS", `${workspaceId}/${partition}`);
}
