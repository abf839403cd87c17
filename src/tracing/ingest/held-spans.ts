import { locateRuns } from "../run-index/locate.ts";
import { shardStub } from "../shard/shard-ref.ts";
import type { ParentRef } from "./otlp/span-identity.ts";
import { partitionObjectName } from "../../lib/object-names.ts";
import { regionalObject } from "../../regions/regional-object.ts";
import type { HeldSpan } from "./held-spans-object.ts";

/** A run that may be the parent of held spans. */
export type KnownParent = {
  runId: string;
  /** Id of the OpenTelemetry span that the run was made from, if it may be the root of its trace. */
  rootSpanId: string | null;
  dottedOrder: string;
};

export type StoreEnv = Pick<Env, "JURISDICTION" | "RUN_INDEX" | "RUN_SHARDS">;

/** Returns those of the parents that are in the store; ingest announces the others when they arrive. */
export async function findParents(
  env: StoreEnv,
  workspaceId: string,
  parents: readonly ParentRef[],
): Promise<KnownParent[]> {
  const ids = new Set(
    parents.flatMap(({ runId, ifRoot }) => (ifRoot === null ? [runId] : [runId, ifRoot.runId])),
  );
  const located = await locateRuns(env, workspaceId, [...ids], { await: true });
  const found = await Promise.all(
    located.map(async ({ runId, ref }): Promise<KnownParent[]> => {
      const { runs } = await shardStub(env, ref).page(
        { ids: [runId] },
        { order: "asc", after: null, limit: 1, maxBytes: 0, payloads: ["extra"], effort: 1 },
      );
      const [run] = runs;
      if (run === undefined) return [];
      const { extra } = run.payloads;
      const text = extra !== undefined && "json" in extra ? extra.json : "{}";
      return [
        { runId, rootSpanId: spanOf(JSON.parse(text)).spanId, dottedOrder: run.dotted_order },
      ];
    }),
  );
  return found.flat();
}

/** Returns the span that a run was made from, according to its metadata. */
export function spanOf(extra: unknown): { traceId: string | null; spanId: string | null } {
  const { metadata } = extra as { metadata?: Record<string, unknown> };
  const text = (value: unknown): string | null => (typeof value === "string" ? value : null);
  return {
    traceId: text(metadata?.["OTEL_TRACE_ID"]),
    spanId: text(metadata?.["OTEL_SPAN_ID"]),
  };
}

/** One object for each last digit of a trace id, so that a span and its parent meet in the same one. */
const PARTITIONS = Array.from({ length: 16 }, (_, digit) => digit.toString(16));

type HeldEnv = Pick<Env, "HELD_SPANS" | "JURISDICTION" | "RUN_INDEX" | "RUN_SHARDS">;

/** Holds spans, and releases those below runs that were just stored. Both are partitioned by trace id. */
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

/** Releases the spans that are held below runs that did not arrive as spans. */
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
  return regionalObject(env, "HELD_SPANS", partitionObjectName(workspaceId, partition));
}
