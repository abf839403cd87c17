import { locateRuns } from "../run-index/locate.ts";
import { shardStub } from "../shard/shard-ref.ts";
import type { ParentRef } from "./otlp/span-identity.ts";

/** A run that spans may be below. */
export type KnownParent = {
  runId: string;
  /** When it was made of the root span of an OpenTelemetry trace: that span's id. */
  rootSpanId: string | null;
  dottedOrder: string;
};

type StoreEnv = Pick<Env, "JURISDICTION" | "RUN_INDEX" | "RUN_SHARDS">;

/** Those of the parents that are in the store; ingest announces the others when they come. */
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

/** The span that a run was made of, as its metadata says. */
export function spanOf(extra: unknown): { traceId: string | null; spanId: string | null } {
  const { metadata } = extra as { metadata?: Record<string, unknown> };
  const text = (value: unknown): string | null => (typeof value === "string" ? value : null);
  return {
    traceId: text(metadata?.["OTEL_TRACE_ID"]),
    spanId: text(metadata?.["OTEL_SPAN_ID"]),
  };
}
