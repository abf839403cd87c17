import { dayOf } from "../../lib/utc-day.ts";
import { ownTime, rootTime } from "../model/dotted-order.ts";
import { copyDueFeedback } from "../feedback/copy-feedback.ts";
import { releaseHeldSpans } from "./held-spans.ts";
import { ensureProject, findProject, forgetProject } from "../projects/project-cache.ts";
import { indexRuns } from "../run-index/locate.ts";
import { type BucketPlan, bucketOf, readBucketPlan } from "../shard/buckets.ts";
import { MAX_EXTRA_BYTES } from "../shard/run-merge.ts";
import { shardObjectName } from "../../lib/object-names.ts";
import { type IndexedRun, type ShardRef, shardStub } from "../shard/shard-ref.ts";
import { PAYLOAD_FIELDS, type ProjectRef, type RunWrite } from "../model/run-write.ts";
import type { ProjectRow } from "../../db/projects-repo.ts";
import { type CompleteWrite, completeWrites } from "./complete-writes.ts";
import type { RunFailure } from "./decode/invalid-run.ts";
import { Buffer } from "node:buffer";
import { requireRoom } from "../../lib/local-disk.ts";
import { clipText } from "../model/text-leaves.ts";
import { payloadObjectKey } from "../shard/stored-payload.ts";

/** The project of a run that gives neither `session_id` nor `session_name`. */
const DEFAULT_PROJECT_NAME = "default";

type PlannedProject = { row: ProjectRow; plan: BucketPlan };

type Placed = { write: RunWrite; ref: ShardRef; project: ProjectRow };

/**
 * Stores writes of a workspace. Once this resolves they are on disk, except for the failures that it returns.
 * Repeating a write changes nothing, so after an error the caller may send all of them again.
 */
export async function storeRuns(
  env: Env,
  workspaceId: string,
  writes: readonly RunWrite[],
  waitUntil: (promise: Promise<unknown>) => void,
  isRetry = false,
): Promise<RunFailure[]> {
  const { writes: complete, failures } = await completeWrites(env, workspaceId, writes);
  const placed = await placeWrites(env, workspaceId, complete, failures);
  const { awaited, kept } = await enterIntoIndex(env, workspaceId, placed);
  // The index entries are committed while the shards write: one commit after the other would take twice as long.
  const results = await Promise.all(
    groupByShard(placed).map((group) => writeToShard(env, workspaceId, group)),
  );
  await kept;
  if (awaited.length > 0) {
    waitUntil(copyDueFeedback(env, workspaceId, awaited));
    waitUntil(releaseHeldSpans(env, workspaceId, awaited));
  }
  failures.push(...results.flatMap((result) => result.failures));
  const orphaned = results.flatMap((result) => result.orphaned);
  if (orphaned.length > 0) {
    if (isRetry) throw new Error("a project is created and deleted over and over");
    failures.push(...(await storeRuns(env, workspaceId, orphaned, waitUntil, true)));
  }
  return failures;
}

async function placeWrites(
  env: Env,
  workspaceId: string,
  writes: readonly CompleteWrite[],
  failures: RunFailure[],
): Promise<Placed[]> {
  const projects = new Map<string, PlannedProject | null>();
  const resolve = async (reference: ProjectRef): Promise<PlannedProject | null> => {
    const key = JSON.stringify(reference);
    let project = projects.get(key);
    if (project === undefined) {
      const row =
        "id" in reference
          ? await findProject(env.DB, workspaceId, reference.id)
          : await ensureProject(env.DB, workspaceId, reference.name);
      project = row === null ? null : { row, plan: readBucketPlan(row) };
      projects.set(key, project);
    }
    return project;
  };
  const referenceOf = new Map<string, ProjectRef>();
  for (const { write } of writes) {
    if (write.project !== undefined) referenceOf.set(write.id, write.project);
  }
  const placed: Placed[] = [];
  for (const { write, place } of writes) {
    const reference = projectOf(write, place, referenceOf);
    const project = await resolve(reference);
    if (project === null) {
      const id = "id" in reference ? reference.id : reference.name;
      failures.push({
        runId: write.id,
        field: "session_id",
        message: `session_id: project ${id} not found`,
        status: 404,
      });
      continue;
    }
    const ref = place?.projectId === project.row.id ? place : shardOf(workspaceId, project, write);
    placed.push({ write, ref, project: project.row });
  }
  return placed;
}

/** An update that does not give its place in the tree belongs to the project in which its run is known. */
function projectOf(
  { id, identity, project }: RunWrite,
  place: ShardRef | null,
  given: ReadonlyMap<string, ProjectRef>,
): ProjectRef {
  const known = place === null ? null : { id: place.projectId };
  if (identity === undefined && known !== null) return known;
  return project ?? given.get(id) ?? known ?? { name: DEFAULT_PROJECT_NAME };
}

function shardOf(
  workspaceId: string,
  { row, plan }: PlannedProject,
  { id, identity }: RunWrite,
): ShardRef {
  if (identity === undefined) throw new Error(`run ${id} has neither a place nor an identity`);
  const { traceId, dottedOrder } = identity;
  const day = dayOf(ownTime(dottedOrder));
  const bucket = bucketOf(plan, traceId, rootTime(dottedOrder));
  return { workspaceId, projectId: row.id, day, bucket };
}

/** Returns the runs that feedback or spans are waiting for, and a promise that the entries are on disk. */
async function enterIntoIndex(
  env: Env,
  workspaceId: string,
  placed: readonly Placed[],
): Promise<{ awaited: string[]; kept: Promise<void> }> {
  const refs = new Map<string, ShardRef>();
  const entries: IndexedRun[] = [];
  for (const { write, ref } of placed) {
    // If the writes of a run disagree about its day, the first one counts.
    if (refs.has(refKey(write.id, ref))) continue;
    refs.set(refKey(write.id, ref), ref);
    const { projectId, day, bucket } = ref;
    entries.push({ id: write.id, projectId, day, bucket });
  }
  if (entries.length === 0) return { awaited: [], kept: Promise.resolve() };
  const { elsewhere, awaited, kept } = await indexRuns(env, workspaceId, entries);
  for (const { runId, ref } of elsewhere) refs.set(refKey(runId, ref), ref);
  for (const entry of placed) entry.ref = refs.get(refKey(entry.write.id, entry.ref)) ?? entry.ref;
  return { awaited, kept };
}

function refKey(runId: string, { projectId }: ShardRef): string {
  return `${runId}/${projectId}`;
}

function groupByShard(placed: readonly Placed[]): Placed[][] {
  const groups = new Map<string, Placed[]>();
  for (const entry of placed) {
    const name = shardObjectName(entry.ref);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [entry]);
    else group.push(entry);
  }
  return [...groups.values()];
}

type ShardOutcome = {
  failures: RunFailure[];
  /** Writes for a project that was just deleted. If they give its name, a new project is created. */
  orphaned: RunWrite[];
};

async function writeToShard(
  env: Env,
  workspaceId: string,
  group: readonly Placed[],
): Promise<ShardOutcome> {
  const [first] = group;
  if (first === undefined) return { failures: [], orphaned: [] };
  const { ref, project } = first;
  const given = group.map(({ write }) => write);
  const writes = await uploadPayloads(env, ref, given);
  const result = await shardStub(env, ref).write(ref, writes, project.trace_tier);
  if (result.projectGone) {
    forgetProject(workspaceId, project);
    await discardPayloads(env.PAYLOADS, writes);
    return { failures: [], orphaned: given };
  }
  const unknown = new Set(result.unknown);
  if (unknown.size > 0) {
    const lost = writes.filter(({ id, identity }) => identity === undefined && unknown.has(id));
    await discardPayloads(env.PAYLOADS, lost);
  }
  const failures: RunFailure[] = [];
  for (const runId of result.unknown) {
    failures.push({ runId, field: "id", message: `Run ${runId} not found`, status: 404 });
  }
  for (const runId of result.tooLarge) {
    const message = `extra, merged with its stored value, should be no larger than ${MAX_EXTRA_BYTES} bytes`;
    failures.push({ runId, field: "extra", message, status: 422 });
  }
  return { failures, orphaned: [] };
}

/** Minimum length of a payload that goes to R2, in UTF-16 code units. */
const LARGE_CHARS = 64 * 1024;

const ERROR_HEAD_CHARS = 2000;

/** Moves large payloads to R2 and puts references into the writes in their place. */
export async function uploadPayloads(
  env: Pick<Env, "PAYLOADS">,
  ref: ShardRef,
  writes: readonly RunWrite[],
): Promise<RunWrite[]> {
  const moved: RunWrite[] = [];
  for (const write of writes) {
    const payloads = { ...write.payloads };
    const { error } = payloads;
    const facts = { ...write.facts };
    if (error !== undefined && "json" in error) facts.errorHead = errorHead(error.json);
    for (const field of PAYLOAD_FIELDS) {
      const payload = payloads[field];
      // The shard merges `extra` and limits its size.
      if (field === "extra" || payload === undefined || !("json" in payload)) continue;
      if (payload.json.length < LARGE_CHARS) continue;
      const key = payloadObjectKey(ref, write.id, field);
      await requireRoom(env, Buffer.byteLength(payload.json));
      // One after the other, because several of 20 MB at once would not fit into memory.
      const stored = await env.PAYLOADS.put(key, payload.json, {
        httpMetadata: { contentType: "application/json" },
      });
      payloads[field] = { object: key, bytes: stored.size };
    }
    moved.push({ ...write, payloads, facts });
  }
  return moved;
}

/** Deletes the objects of writes that are not stored. */
async function discardPayloads(bucket: R2Bucket, writes: readonly RunWrite[]): Promise<void> {
  const objects = writes.flatMap(({ payloads }) =>
    Object.values(payloads).flatMap((payload) => ("object" in payload ? [payload.object] : [])),
  );
  if (objects.length > 0) await bucket.delete(objects);
}

/** Returns the first characters of an error; `json` is a JSON string. */
function errorHead(json: string): string {
  return clipText(JSON.parse(json) as string, ERROR_HEAD_CHARS);
}
