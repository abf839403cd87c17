import { ancestorIds, formatDottedSegment } from "../model/dotted-order.ts";
import { locateRuns } from "../run-index/locate.ts";
import { type ShardEnv, type ShardRef, shardStub } from "../shard/shard-ref.ts";
import type { RunIdentity, RunWrite } from "../model/run-write.ts";
import type { RunFailure } from "./decode/invalid-run.ts";
import type { StoreEnv } from "./held-spans.ts";

/** A write, and the shard of its run if the run is already known there. */
export type CompleteWrite = { write: RunWrite; place: ShardRef | null };

/**
 * Adds what single creates and updates may leave out: the identity of a run is computed from its parent's,
 * and the shard of an updated run is looked up. A run whose parent is not known fails with 404, like an
 * update of an unknown run.
 */
export async function completeWrites(
  env: StoreEnv,
  workspaceId: string,
  writes: readonly RunWrite[],
): Promise<{ writes: CompleteWrite[]; failures: RunFailure[] }> {
  const given = new Map<string, RunIdentity>();
  for (const { id, identity } of writes) if (identity !== undefined) given.set(id, identity);
  const wanted = new Set<string>();
  for (const { id, identity, kind, parentRunId, project } of writes) {
    if (kind === "patch" && (identity === undefined || project === undefined)) wanted.add(id);
    if (kind === "post" && identity === undefined && parentRunId) wanted.add(parentRunId);
  }
  const places = new Map<string, ShardRef>();
  if (wanted.size > 0) {
    for (const { runId, ref } of await locateRuns(env, workspaceId, [...wanted])) {
      places.set(runId, ref);
    }
  }
  const complete: CompleteWrite[] = [];
  const failures: RunFailure[] = [];
  for (const write of writes) {
    const { id, kind } = write;
    if (write.identity !== undefined) {
      complete.push({
        write,
        place: write.project === undefined ? (places.get(id) ?? null) : null,
      });
    } else if (kind === "patch") {
      const place = places.get(id);
      const identity = given.get(id);
      if (place === undefined && identity === undefined) {
        failures.push({ runId: id, field: "id", message: `Run ${id} not found`, status: 404 });
      } else {
        complete.push({ write: { ...write, identity }, place: place ?? null });
      }
    } else {
      const identity = await identityOf(env, write, given, places);
      if (identity === null) {
        const message = `parent_run_id: run ${write.parentRunId} not found, so dotted_order cannot be computed`;
        failures.push({ runId: id, field: "parent_run_id", message, status: 404 });
      } else {
        given.set(id, identity);
        complete.push({ write: { ...write, identity }, place: null });
      }
    }
  }
  return { writes: complete, failures };
}

/** Returns the identity of a create without `dotted_order`: below its parent, or the root of a new trace. */
async function identityOf(
  env: StoreEnv,
  { id, parentRunId, startTime }: RunWrite,
  given: ReadonlyMap<string, RunIdentity>,
  places: ReadonlyMap<string, ShardRef>,
): Promise<RunIdentity | null> {
  const segment = formatDottedSegment(startTime ?? Date.now() * 1000, id);
  if (!parentRunId) return { traceId: id, parentRunId: null, dottedOrder: segment };
  const place = places.get(parentRunId);
  const parent =
    given.get(parentRunId)?.dottedOrder ??
    (place === undefined ? null : await dottedOrderOf(env, place, parentRunId));
  if (parent === null) return null;
  return {
    traceId: ancestorIds(`${parent}.${segment}`)[0] ?? id,
    parentRunId,
    dottedOrder: `${parent}.${segment}`,
  };
}

/** Returns the stored value; null if the run does not exist. */
async function dottedOrderOf(
  env: ShardEnv,
  place: ShardRef,
  runId: string,
): Promise<string | null> {
  const page = await shardStub(env, place).page(
    { ids: [runId] },
    { order: "asc", after: null, limit: 1, maxBytes: 0, payloads: [], effort: 1 },
  );
  return page.runs[0]?.dotted_order ?? null;
}
