import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { describe, test } from "vitest";
import { makeThread } from "../../src/agent-server/threads/object/make-thread.ts";
import type { NewRun } from "../../src/agent-server/threads/storage/run-table.ts";
import { ThreadStorage } from "../../src/agent-server/threads/storage/thread-storage.ts";
import type { SerializedValue, WritesPut } from "../../src/graph-runtime/checkpoint-port.ts";

/** Opens the tables of a new thread; `reopen` opens them again, as after a restart. */
function withThread<T>(
  use: (thread: ThreadStorage, reopen: () => ThreadStorage, sql: SqlStorage) => T,
): Promise<T> {
  const stub = env.THREADS.get(env.THREADS.newUniqueId());
  return runInDurableObject(stub, (_, { storage }) => {
    const thread = new ThreadStorage(storage);
    const scope = { workspaceId: "w", deploymentId: "d" };
    makeThread(thread, { scope, thread_id: "t", metadata: {}, temporary: false, ttl: null });
    return use(thread, () => new ThreadStorage(storage), storage.sql);
  });
}

function failing(thread: ThreadStorage, change: () => void): void {
  try {
    thread.transaction(() => {
      change();
      throw new Error("rolled back");
    });
  } catch (error) {
    if (!String(error).includes("rolled back")) throw error;
  }
}

describe("the texts of a thread", () => {
  test("are read as they are stored, however they were written", async ({ expect }) => {
    const [long, short] = ["é".repeat(20_000), "short"];
    await withThread((thread, reopen) => {
      const { texts } = thread;
      const same = (...expected: [a: string, b: string, prefixed: string[]]): void => {
        for (const table of [texts, reopen().texts]) {
          expect([table.get("a"), table.get("b"), table.withPrefix("p:")]).toEqual(expected);
        }
      };
      thread.transaction(() => {
        texts.set("a", short);
        texts.set("b", long);
        texts.set("p:2", "two");
        texts.set("p:1", "one");
      });
      same(short, long, ["one", "two"]);
      thread.transaction(() => {
        texts.set("a", long);
        texts.set("b", "now short");
        texts.delete("p:1");
      });
      same(long, "now short", ["two"]);
      // Together they are more than what is kept in memory.
      const many = Array.from({ length: 20 }, (_, index) => `p:0${index + 10}`);
      thread.transaction(() => many.forEach((name) => texts.set(name, name.padEnd(3000))));
      same(long, "now short", many.map((name) => name.padEnd(3000)).concat("two"));
    });
  });

  test("are as before after a transaction that failed", async ({ expect }) => {
    await withThread((thread) => {
      const { texts } = thread;
      thread.transaction(() => texts.set("a", "stored"));
      const changes = [
        () => texts.set("a", "lost"),
        () => texts.delete("a"),
        () => texts.set("p:1", "lost"),
      ];
      for (const change of changes) {
        failing(thread, change);
        expect([texts.get("a"), texts.withPrefix("p:")]).toEqual(["stored", []]);
      }
    });
  });
});

describe("a new run", () => {
  test.for([null, { place: 7, nextEvent: 1024 }])(
    "is returned as it is stored, started by %j",
    async (start, { expect }) => {
      const run: NewRun = {
        seq: 3,
        run_id: "run",
        assistant_id: "assistant",
        graph_id: "graph",
        multitask_strategy: "enqueue",
        metadata: "{}",
        created_at: 5,
        principal: null,
        revision_id: "revision",
        resumable: 1,
        webhook: null,
        kwargs: '{"a":1}',
        now: 4,
      };
      await withThread((thread, reopen) => {
        const made = thread.transaction(() => thread.runs.insert(run, start));
        expect(made).toEqual(reopen().runs.get("run"));
        const started = { status: "running", attempt: 1, first_seq: 7, next_event: 1024 };
        const waiting = { status: "pending", attempt: 0, first_seq: null, next_event: 0 };
        expect(made).toMatchObject(start === null ? waiting : started);
        expect(thread.runs.inFlight()).toEqual(reopen().runs.inFlight());
      });
    },
  );
});

describe("the writes of a new thread", () => {
  const value: SerializedValue = ["json", new TextEncoder().encode("1")];
  const of = (task_id: string, ...numbers: number[]): { writes: WritesPut } => ({
    writes: {
      ns: "",
      checkpoint_id: "c",
      task_id,
      writes: numbers.map((idx) => [idx, "channel", value]),
    },
  });

  test("are stored once each, those of later batches, too", async ({ expect }) => {
    await withThread((thread, _, sql) => {
      const apply = (...batch: { writes: WritesPut }[]): void =>
        thread.transaction(() => thread.checkpoints.apply(batch, "run"));
      apply(of("a", 0, 1), of("b", 0), of("a", 1, 2), of("a", -1), of("a", -1));
      apply(of("a", 2, 3), of("b", 0));
      const rows = sql
        .exec("SELECT task_id, idx, count FROM writes ORDER BY task_id, idx")
        .toArray();
      expect(rows).toEqual([
        { task_id: "a", idx: -1, count: null },
        { task_id: "a", idx: 0, count: 2 },
        { task_id: "a", idx: 2, count: null },
        { task_id: "a", idx: 3, count: null },
        { task_id: "b", idx: 0, count: null },
      ]);
    });
  });
});
