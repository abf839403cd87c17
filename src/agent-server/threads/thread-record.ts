import type { RunError, ThreadSnapshot } from "../../graph-runtime/protocol.ts";
import type { Texts } from "./texts.ts";

export const THREAD_STATUSES = ["idle", "busy", "interrupted", "error"] as const;

export type ThreadStatus = (typeof THREAD_STATUSES)[number];

export type ThreadRow = {
  thread_id: string;
  workspace_id: string;
  deployment_id: string;
  created_at: number;
  updated_at: number;
  state_updated_at: number;
  status: ThreadStatus;
  settled_status: ThreadStatus;
  graph_id: string | null;
  metadata: string;
  config: string;
  interrupts: string;
  error: string | null;
  temporary: number;
  deleted: number;
  version: number;
  indexed_version: number;
};

export type NewThread = {
  thread_id: string;
  workspace_id: string;
  deployment_id: string;
  metadata: Record<string, unknown>;
  temporary: boolean;
  now: number;
};

/** The thread itself: one row, and its values as a text beside it. Every change is a new version. */
export class ThreadRecord {
  readonly #sql: SqlStorage;
  readonly #texts: Texts;

  constructor(sql: SqlStorage, texts: Texts) {
    this.#sql = sql;
    this.#texts = texts;
  }

  create(thread: NewThread): void {
    this.#sql.exec(
      `INSERT INTO thread (id, thread_id, workspace_id, deployment_id, created_at, updated_at,
         state_updated_at, status, settled_status, metadata, config, interrupts, temporary,
         version, indexed_version)
       VALUES (1, ?1, ?2, ?3, ?4, ?4, ?4, 'idle', 'idle', ?5, '{}', '{}', ?6, 1, 0)`,
      thread.thread_id,
      thread.workspace_id,
      thread.deployment_id,
      thread.now,
      JSON.stringify(thread.metadata),
      thread.temporary ? 1 : 0,
    );
  }

  find(): ThreadRow | null {
    return this.#sql.exec<ThreadRow>("SELECT * FROM thread").toArray()[0] ?? null;
  }

  /** For callers that know the thread exists. */
  get(): ThreadRow {
    return this.#sql.exec<ThreadRow>("SELECT * FROM thread").one();
  }

  values(): string | null {
    return this.#texts.get("values");
  }

  mergeMetadata(metadata: Record<string, unknown>, now: number): void {
    const merged = { ...JSON.parse(this.get().metadata), ...metadata };
    this.#sql.exec(
      "UPDATE thread SET metadata = ?, updated_at = ?, version = version + 1",
      JSON.stringify(merged),
      now,
    );
  }

  /** A run was accepted while none was in flight: the thread takes on what it runs. */
  adopt(
    run: { graphId: string; assistantId: string; config: Record<string, unknown> },
    now: number,
  ): void {
    const metadata = {
      ...JSON.parse(this.get().metadata),
      graph_id: run.graphId,
      assistant_id: run.assistantId,
    };
    this.#sql.exec(
      `UPDATE thread SET graph_id = ?1, metadata = ?2, config = ?3, status = 'busy',
         updated_at = ?4, version = version + 1`,
      run.graphId,
      JSON.stringify(metadata),
      JSON.stringify(run.config),
      now,
    );
  }

  setGraph(graphId: string): void {
    this.#sql.exec("UPDATE thread SET graph_id = ?", graphId);
  }

  /** What the thread shows of its state. `settled` is the status once no run is in flight. */
  setState(snapshot: ThreadSnapshot | null, settled: ThreadStatus, error: RunError | null): void {
    if (snapshot !== null) this.setSnapshot(snapshot);
    this.#sql.exec(
      "UPDATE thread SET settled_status = ?, error = ?, version = version + 1",
      settled,
      error === null ? null : JSON.stringify(error),
    );
  }

  setSnapshot(snapshot: ThreadSnapshot): void {
    if (snapshot.values === null) this.#texts.delete("values");
    else this.#texts.set("values", snapshot.values);
    this.#sql.exec("UPDATE thread SET interrupts = ?", JSON.stringify(snapshot.interrupts));
  }

  /** After every change of the queue: busy while a run is in flight, else what the state says. */
  settle(inFlight: boolean, now: number): void {
    this.#sql.exec(
      `UPDATE thread SET status = CASE WHEN ?1 THEN 'busy' ELSE settled_status END,
         updated_at = ?2, state_updated_at = ?2, version = version + 1`,
      inFlight ? 1 : 0,
      now,
    );
  }

  markDeleted(): void {
    this.#sql.exec("UPDATE thread SET deleted = 1, version = version + 1");
  }

  confirmIndexed(version: number): void {
    this.#sql.exec("UPDATE thread SET indexed_version = max(indexed_version, ?)", version);
  }
}
