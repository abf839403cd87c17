import { env } from "cloudflare:workers";
import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { vi } from "vitest";
import { findShards } from "../../src/db/run-shards-repo.ts";
import { dayOf } from "../../src/lib/utc-day.ts";
import { readRun } from "../../src/tracing/ingest/decode/run-body.ts";
import type { RunFailure } from "../../src/tracing/ingest/decode/invalid-run.ts";
import { storeRuns } from "../../src/tracing/ingest/store-runs.ts";
import { ensureProject, forgetProject } from "../../src/tracing/projects/project-cache.ts";
import { findRuns, type RunsQuery } from "../../src/tracing/query/find-runs.ts";
import type { PlacedRun } from "../../src/tracing/query/run-source.ts";
import type { RunSelection } from "../../src/tracing/shard/selection.ts";
import { refOf, type ShardRef, shardStub } from "../../src/tracing/shard/shard-ref.ts";
import { PAYLOAD_FIELDS, type RunWrite } from "../../src/tracing/model/run-write.ts";
import { type RunData, runData } from "../support/trace-data.ts";

export const PROJECT = "p";

type RunOptions = NonNullable<Parameters<typeof runData>[1]>;

/** One create or update; `attachments` are texts by their names. */
export type Operation = {
  kind: RunWrite["kind"];
  body: object;
  attachments?: Record<string, string>;
};

/** Returns a run of the tests' project, as a client sends it. */
export function root(options: RunOptions = {}): RunData {
  return runData(PROJECT, options);
}

export function child(parent: RunData, options: RunOptions = {}): RunData {
  return runData(parent.session_name, { parent, ...options });
}

/** Returns the required fields of an update of a run, and some others. */
export function updateOf({ id, trace_id, dotted_order, session_name }: RunData, fields: object) {
  return { id, trace_id, dotted_order, session_name, ...fields };
}

/** A new workspace in the real store, which is used below its HTTP routes. */
export class TestStore {
  readonly workspaceId = crypto.randomUUID();

  /** Sends one request. Resolves when feedback that has waited for its runs is there, too. */
  async send(...operations: Operation[]): Promise<RunFailure[]> {
    const writes = await Promise.all(operations.map((operation) => this.#write(operation)));
    const background: Promise<unknown>[] = [];
    const failures = await storeRuns(env, this.workspaceId, writes, (promise) =>
      background.push(promise),
    );
    await Promise.all(background);
    return failures;
  }

  async post(...bodies: object[]): Promise<RunFailure[]> {
    return this.send(...bodies.map((body) => ({ kind: "post" as const, body })));
  }

  async patch(...bodies: object[]): Promise<RunFailure[]> {
    return this.send(...bodies.map((body) => ({ kind: "patch" as const, body })));
  }

  query(query: Partial<RunsQuery> = {}) {
    return findRuns(env, {
      workspaceId: this.workspaceId,
      selection: {},
      order: "asc",
      after: null,
      limit: 1000,
      payloads: PAYLOAD_FIELDS,
      ...query,
    });
  }

  async select(selection: RunSelection = {}): Promise<PlacedRun[]> {
    return (await this.query({ selection })).runs;
  }

  async ids(selection: RunSelection = {}): Promise<string[]> {
    return (await this.select(selection)).map(({ run }) => run.id);
  }

  async run(id: string): Promise<PlacedRun["run"]> {
    const [found] = await this.select({ ids: [id] });
    if (found === undefined) throw new Error(`run ${id} is not there`);
    return found.run;
  }

  async projectId(name: string = PROJECT): Promise<string> {
    return (await ensureProject(env.DB, this.workspaceId, name)).id;
  }

  /** Returns the shard of a day of the tests' project. */
  async shardOn(time: Date, bucket = 0): Promise<ShardRef> {
    const { workspaceId } = this;
    const day = dayOf(time.getTime() * 1000);
    return { workspaceId, projectId: await this.projectId(), day, bucket };
  }

  /** Returns the listed shards, by day. */
  async shards(): Promise<ShardRef[]> {
    const rows = await findShards(env.DB, this.workspaceId, {});
    return rows.map(refOf).toSorted((left, right) => left.day - right.day);
  }

  /** Creates a project whose days are spread over several shards. */
  async spread(name: string, buckets: number): Promise<string> {
    const project = await ensureProject(env.DB, this.workspaceId, name);
    await env.DB.prepare("UPDATE projects SET buckets = ? WHERE id = ?")
      .bind(buckets, project.id)
      .run();
    forgetProject(this.workspaceId, project);
    return project.id;
  }

  /** Resolves when the shards of all days have exchanged their messages. */
  async settle(): Promise<void> {
    await vi.waitUntil(
      async () => {
        const waiting = await Promise.all(
          (await this.shards()).map((ref) => countIn(ref, "outbox")),
        );
        return waiting.every((n) => n === 0);
      },
      { timeout: 150_000, interval: 10 },
    );
  }

  /** Returns the keys of the workspace's objects in R2. */
  async objects(): Promise<string[]> {
    const { objects } = await env.PAYLOADS.list({ prefix: `${this.workspaceId}/` });
    return objects.map(({ key }) => key);
  }

  async #write({ kind, body, attachments }: Operation): Promise<RunWrite> {
    const write = readRun(kind, body, { identity: "optional" });
    if (attachments === undefined) return write;
    const stored = Object.entries(attachments).map(async ([name, text]) => {
      const object = `${this.workspaceId}/attachments/${write.id}/${crypto.randomUUID()}`;
      await env.PAYLOADS.put(object, text);
      return { name, mimeType: "text/plain", bytes: Buffer.byteLength(text), object };
    });
    return { ...write, attachments: await Promise.all(stored) };
  }
}

export function inShard<T>(
  ref: ShardRef,
  work: (sql: SqlStorage, storage: DurableObjectStorage) => T | Promise<T>,
): Promise<T> {
  return runInDurableObject(shardStub(env, ref), (_, { storage }) => work(storage.sql, storage));
}

export function tablesIn(ref: ShardRef): Promise<string[]> {
  return inShard(ref, (sql) =>
    sql
      .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'")
      .toArray()
      .map(({ name }) => name)
      .filter((name) => !name.startsWith("_cf")),
  );
}

export function countIn(ref: ShardRef, table: string): Promise<number> {
  return inShard(
    ref,
    (sql) => sql.exec<{ n: number }>(`SELECT count(*) AS n FROM ${table}`).one().n,
  );
}

/** Runs the alarm of each shard that has one, until none of them has anything to do at once. */
export async function runAlarms(refs: readonly ShardRef[]): Promise<void> {
  for (const ref of refs) await runDurableObjectAlarm(shardStub(env, ref));
}

/** Returns a run's payload, wherever it is stored, or null if there is none. */
export async function payloadText(
  { payloads }: PlacedRun["run"],
  field: keyof PlacedRun["run"]["payloads"],
): Promise<string | null> {
  const payload = payloads[field];
  if (payload === undefined) return null;
  if ("json" in payload) return payload.json;
  const object = await env.PAYLOADS.get(payload.object);
  return object === null ? null : object.text();
}
