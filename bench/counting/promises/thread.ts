import { DurableObject } from "cloudflare:workers";
import type { ThreadIndexRow } from "../../../src/db/threads-repo.ts";
import type { Scope } from "../../../src/lib/scope.ts";
import { ownEntrypoint, writeMetadata } from "../bound-graph.ts";
import type { PromisesGraphs } from "./graphs.ts";
import { type RunEnd, type RunStart, type StoredCheckpoint, ThreadPort } from "./run-port.ts";
import type { TracedRun } from "./run-trace.ts";
import type { IndexObject, RunIdsObject, TracesObject } from "./shared-objects.ts";

export type PromisesEnv = {
  DB: D1Database;
  THREADS: DurableObjectNamespace<PromisesThread>;
  INDEX: DurableObjectNamespace<IndexObject>;
  TRACES: DurableObjectNamespace<TracesObject>;
  RUN_IDS: DurableObjectNamespace<RunIdsObject>;
};

export type RunRequest = { run_id: string; assistant_id: string; graph_id: string; input: string };

/** Both are as in the platform: the alarm while a run is in flight, and the rest before its trace is recorded. */
const HEARTBEAT_MS = 10_000;
const RECORD_DELAY_MS = 100;

/** The row of the thread is its row in the index. */
const TABLES = `
  CREATE TABLE thread (
    workspace_id TEXT, deployment_id TEXT, thread_id TEXT, status TEXT, metadata TEXT, config TEXT,
    state_values TEXT, interrupts TEXT, error TEXT, omitted TEXT, values_chars INTEGER, json_chars INTEGER,
    created_at INTEGER, updated_at INTEGER, state_updated_at INTEGER, version INTEGER
  );
  CREATE TABLE runs (
    run_id TEXT PRIMARY KEY, assistant_id TEXT, graph_id TEXT, status TEXT, input TEXT,
    created_at INTEGER, ended_at INTEGER
  ) WITHOUT ROWID;
  CREATE TABLE checkpoints (id TEXT PRIMARY KEY, run_id TEXT, checkpoint BLOB, metadata BLOB)
    WITHOUT ROWID;
`;

/** A thread with its runs and checkpoints. The benchmark's graph does not fail, so no run ends with an error. */
export class PromisesThread extends DurableObject<PromisesEnv> {
  readonly #sql = this.ctx.storage.sql;
  /** The runs that this instance executes. */
  readonly #active = new Set<string>();
  #indexedVersion = 0;

  /** Resolves when the thread's row is in the index. */
  async create({ workspaceId, deploymentId }: Scope, threadId: string): Promise<void> {
    const now = Date.now();
    this.#sql.exec(TABLES);
    this.#sql.exec(
      `INSERT INTO thread VALUES (?, ?, ?, 'idle', '{}', '{}', NULL, '{}', NULL, 'none', 0, 6, ?, ?, ?, 1)`,
      workspaceId,
      deploymentId,
      threadId,
      now,
      now,
      now,
    );
    await this.#index();
  }

  async wait(request: RunRequest): Promise<string> {
    this.#insert(request);
    return this.#execute(request.run_id);
  }

  /** Returns the run's events. The run's row is on disk before the first of them is sent. */
  async stream(request: RunRequest): Promise<ReadableStream<Uint8Array>> {
    this.#insert(request);
    const { readable, writable } = new IdentityTransformStream();
    this.ctx.waitUntil(this.#follow(request.run_id, writable.getWriter()));
    return readable;
  }

  /** Continues the runs that were interrupted, and repeats what the index does not have. */
  override async alarm(): Promise<void> {
    const running = this.#sql
      .exec<{ run_id: string }>("SELECT run_id FROM runs WHERE status = 'running'")
      .toArray();
    if (running.length > 0) void this.ctx.storage.setAlarm(Date.now() + HEARTBEAT_MS);
    for (const { run_id } of running) {
      if (!this.#active.has(run_id)) await this.#execute(run_id);
    }
    await this.#index();
  }

  #insert({ run_id, assistant_id, graph_id, input }: RunRequest): void {
    const now = Date.now();
    this.#sql.exec(
      "INSERT INTO runs VALUES (?, ?, ?, 'running', ?, ?, NULL)",
      run_id,
      assistant_id,
      graph_id,
      input,
      now,
    );
    void this.ctx.storage.setAlarm(now + HEARTBEAT_MS);
  }

  async #execute(runId: string): Promise<string> {
    this.#active.add(runId);
    try {
      const end = await this.#graphs().wait(this.#start(runId), this.#port(runId));
      this.#end(runId, end);
      // A client that has waited for the run and then lists threads must see its values.
      await this.#index();
      return end.values;
    } finally {
      this.#active.delete(runId);
    }
  }

  async #follow(runId: string, to: WritableStreamDefaultWriter<Uint8Array>): Promise<void> {
    this.#active.add(runId);
    try {
      await writeMetadata(runId, to);
      const events = await this.#graphs().stream(this.#start(runId), this.#port(runId));
      for await (const chunk of events) await to.write(chunk);
      await this.#index();
      await to.close();
    } finally {
      this.#active.delete(runId);
    }
  }

  #graphs(): Service<PromisesGraphs> {
    return ownEntrypoint<PromisesGraphs>(this.ctx, "PromisesGraphs");
  }

  #port(runId: string): ThreadPort {
    return new ThreadPort({
      keep: async (checkpoints) => this.#keep(runId, checkpoints),
      end: async (end) => this.#end(runId, end),
      trace: async (runs) => this.ctx.waitUntil(this.#record(runId, runs)),
    });
  }

  /** Returns the start of a run: from its input, or from its own newest checkpoint if it has one. */
  #start(runId: string): RunStart {
    const { thread_id, input } = this.#sql
      .exec<{ thread_id: string; input: string }>(
        "SELECT thread_id, input FROM thread, runs WHERE run_id = ?",
        runId,
      )
      .one();
    const [newest] = this.#sql
      .exec<{ run_id: string; id: string; checkpoint: ArrayBuffer; metadata: ArrayBuffer }>(
        "SELECT run_id, id, checkpoint, metadata FROM checkpoints ORDER BY id DESC LIMIT 1",
      )
      .toArray();
    const isOwn = newest?.run_id === runId;
    return { thread_id, run_id: runId, input: isOwn ? null : input, newest: newest ?? null };
  }

  #keep(runId: string, checkpoints: readonly StoredCheckpoint[]): void {
    for (const { id, checkpoint, metadata } of checkpoints) {
      this.#sql.exec(
        "INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?, ?)",
        id,
        runId,
        checkpoint,
        metadata,
      );
    }
  }

  #end(runId: string, { values, checkpoints }: RunEnd): void {
    const now = Date.now();
    this.#keep(runId, checkpoints);
    this.#sql.exec("UPDATE runs SET status = 'success', ended_at = ? WHERE run_id = ?", now, runId);
    this.#sql.exec(
      `UPDATE thread SET state_values = ?1, values_chars = length(?1), json_chars = 6 + length(?1),
         updated_at = ?2, state_updated_at = ?2, version = version + 1`,
      values,
      now,
    );
  }

  /** Resolves when the index has the thread's row. */
  async #index(): Promise<void> {
    const row = this.#row();
    if (row.version <= this.#indexedVersion) return;
    await this.env.INDEX.getByName("all").put(row);
    this.#indexedVersion = row.version;
  }

  #row(): ThreadIndexRow {
    return this.#sql.exec<ThreadIndexRow>("SELECT * FROM thread").one();
  }

  async #record(runId: string, runs: TracedRun[]): Promise<void> {
    await scheduler.wait(RECORD_DELAY_MS);
    const ids = runs.map(([id]) => String(id));
    const day = new Date().toISOString().slice(0, "2000-01-01".length);
    await Promise.all([
      this.env.TRACES.getByName(day).write(runId, runs),
      this.env.RUN_IDS.getByName("all").write(day, ids),
    ]);
  }
}
