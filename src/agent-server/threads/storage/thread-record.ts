import type { RunError, ThreadSnapshot } from "../../../graph-runtime/protocol.ts";
import { THREAD_MIGRATIONS } from "./thread-migrations.ts";
import type { TextTable } from "./text-table.ts";
import { NO_TTL, startTtl, type ThreadTtl, type TtlColumns, ttlRenewedBy } from "./thread-ttl.ts";

/** The state that a copy takes over. `settled_status` becomes its status, because no run is in flight there. */
export type CopiedState = Pick<ThreadRow, "graph_id" | "settled_status" | "interrupts" | "error">;

export const THREAD_STATUSES = ["idle", "busy", "interrupted", "error"] as const;

export type ThreadStatus = (typeof THREAD_STATUSES)[number];

export type ThreadRow = TtlColumns & {
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
  /** The place where the events of the next run begin among those of the thread. */
  next_seq: number;
  /** Number of THREAD_MIGRATIONS that the tables correspond to; 0 if a table records it. */
  schema_version: number;
  /** The `seq` of the next run. */
  next_run: number;
};

export type NewThreadRow = {
  thread_id: string;
  workspace_id: string;
  deployment_id: string;
  metadata: Record<string, unknown>;
  temporary: boolean;
  ttl: ThreadTtl | null;
  now: number;
};

/** Name of the stored text that holds the values of the thread. */
const VALUES = "values";

/**
 * The thread itself: one row, which is cached in memory and written once at the end of each transaction that
 * changed it, and its values, which are stored as a text.
 */
export class ThreadRecord {
  readonly #sql: SqlStorage;
  readonly #texts: TextTable;
  #row: Readonly<ThreadRow> | null | undefined;
  #dirty = false;

  constructor(sql: SqlStorage, texts: TextTable) {
    this.#sql = sql;
    this.#texts = texts;
  }

  /** Must be called when the object's tables were deleted. */
  erased(): void {
    this.#row = null;
    this.#dirty = false;
  }

  /** Clears the cache in memory, after a failed transaction. */
  reset(): void {
    this.#row = undefined;
    this.#dirty = false;
  }

  /** Writes the row if it has changed. Called at the end of each transaction. */
  flush(): void {
    if (!this.#dirty || !this.#row) return;
    const row = this.#row;
    this.#sql.exec(
      `INSERT OR REPLACE INTO thread (id, ${COLUMNS.join(", ")})
       VALUES (1, ${COLUMNS.map(() => "?").join(", ")})`,
      ...COLUMNS.map((column) => row[column]),
    );
    this.#dirty = false;
  }

  create(thread: NewThreadRow): void {
    this.#row = {
      thread_id: thread.thread_id,
      workspace_id: thread.workspace_id,
      deployment_id: thread.deployment_id,
      created_at: thread.now,
      updated_at: thread.now,
      state_updated_at: thread.now,
      status: "idle",
      settled_status: "idle",
      graph_id: null,
      metadata: JSON.stringify(thread.metadata),
      config: "{}",
      interrupts: "{}",
      error: null,
      temporary: thread.temporary ? 1 : 0,
      deleted: 0,
      version: 1,
      indexed_version: 0,
      ...(thread.ttl === null ? NO_TTL : startTtl(thread.ttl, thread.now)),
      next_seq: 1,
      schema_version: THREAD_MIGRATIONS.length,
      next_run: 1,
    };
    this.#dirty = true;
  }

  find(): Readonly<ThreadRow> | null {
    if (this.#row === undefined) {
      const rows = this.#sql.exec<ThreadRow>(`SELECT ${COLUMNS.join(", ")} FROM thread`).toArray();
      this.#row = rows[0] ?? null;
    }
    return this.#row;
  }

  /** Returns the row. Throws if there is no thread. */
  get(): Readonly<ThreadRow> {
    const row = this.find();
    if (row === null) throw new Error("There is no thread in this object");
    return row;
  }

  values(): string | null {
    return this.#texts.get(VALUES);
  }

  mergeMetadata(metadata: Record<string, unknown>, now: number): void {
    const merged = { ...JSON.parse(this.get().metadata), ...metadata };
    this.#change({ metadata: JSON.stringify(merged), updated_at: now });
  }

  /** Takes over the graph, assistant and config of a run that was accepted while none was in flight. */
  adopt(
    run: {
      assistant: { graph_id: string; assistant_id: string };
      config: Record<string, unknown>;
    },
    now: number,
  ): void {
    const metadata = {
      ...JSON.parse(this.get().metadata),
      graph_id: run.assistant.graph_id,
      assistant_id: run.assistant.assistant_id,
    };
    this.#change({
      graph_id: run.assistant.graph_id,
      metadata: JSON.stringify(metadata),
      config: JSON.stringify(run.config),
      status: "busy",
      updated_at: now,
    });
  }

  setGraph(graphId: string): void {
    const metadata = { ...JSON.parse(this.get().metadata), graph_id: graphId };
    this.#change({ graph_id: graphId, metadata: JSON.stringify(metadata) });
  }

  /** Sets the visible state. `settled` is the status once no run is in flight. */
  setState(snapshot: ThreadSnapshot | null, settled: ThreadStatus, error: RunError | null): void {
    this.#change({
      settled_status: settled,
      error: error === null ? null : JSON.stringify(error),
      ...(snapshot === null ? {} : { interrupts: JSON.stringify(snapshot.interrupts) }),
    });
    if (snapshot === null) return;
    if (snapshot.values === null) this.#texts.delete(VALUES);
    else this.#texts.set(VALUES, snapshot.values);
  }

  /** Sets the status after a change of the queue: busy while a run is in flight, else the settled status. */
  settle(inFlight: boolean, now: number): void {
    const status = inFlight ? "busy" : this.get().settled_status;
    this.#change({ status, updated_at: now, state_updated_at: now });
    if (!inFlight) this.#note(ttlRenewedBy(this.get(), now));
  }

  /** Sets the visible state of a thread that is created as a copy. */
  takeState(state: CopiedState, values: string | null): void {
    this.#change({ ...state, status: state.settled_status });
    if (values !== null) this.#texts.set(VALUES, values);
  }

  /** Marks the places before `next` as used for a run's events. The index is not notified. */
  passSeq(next: number): void {
    this.#note({ next_seq: Math.max(this.get().next_seq, next) });
  }

  /** Returns the number for a new run, and increments it. The index is not notified. */
  takeRunSeq(): number {
    const { next_run } = this.get();
    this.#note({ next_run: next_run + 1 });
    return next_run;
  }

  markDeleted(): void {
    this.#change({ deleted: 1 });
  }

  /** Makes a thread visible that was created hidden. */
  show(): void {
    this.#change({ deleted: 0 });
  }

  /** Restarts the thread's time to live. */
  setTtl(ttl: ThreadTtl, now: number): void {
    this.#note(startTtl(ttl, now));
  }

  /** Sets when the thread expires; null for never, or until its state changes. */
  expireAt(at: number | null): void {
    this.#note({ expires_at: at });
  }

  confirmIndexed(version: number): void {
    this.#note({ indexed_version: version });
  }

  /** Changes columns that are not in the index, so that the index is not notified. */
  #note(patch: Partial<ThreadRow>): void {
    this.#row = { ...this.get(), ...patch };
    this.#dirty = true;
  }

  #change(patch: Partial<ThreadRow>): void {
    const row = this.get();
    this.#row = { ...row, ...patch, version: row.version + 1 };
    this.#dirty = true;
  }
}

const COLUMNS = [
  "thread_id",
  "workspace_id",
  "deployment_id",
  "created_at",
  "updated_at",
  "state_updated_at",
  "status",
  "settled_status",
  "graph_id",
  "metadata",
  "config",
  "interrupts",
  "error",
  "temporary",
  "deleted",
  "version",
  "indexed_version",
  "ttl_strategy",
  "ttl_minutes",
  "expires_at",
  "next_seq",
  "schema_version",
  "next_run",
] as const satisfies (keyof ThreadRow)[];
