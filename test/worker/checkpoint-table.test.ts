import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { test } from "vitest";
import { CheckpointTable } from "../../src/agent-server/threads/storage/checkpoint-table.ts";
import { ThreadTables } from "../../src/agent-server/threads/storage/thread-tables.ts";
import { THREAD_MIGRATIONS } from "../../src/agent-server/threads/storage/thread-migrations.ts";
import type {
  CheckpointBatch,
  CheckpointPut,
  SerializedValue,
  WritesPut,
} from "../../src/graph-runtime/checkpoint-port.ts";
import { migrateTables } from "../../src/lib/object-migrations.ts";

const encoder = new TextEncoder();

function typed(value: unknown): SerializedValue {
  return ["json", encoder.encode(JSON.stringify(value))];
}

/** Returns an id; ids sort by their numbers. */
function idOf(step: number): string {
  return String(step).padStart(8, "0");
}

function put(ns: string, step: number, value: SerializedValue = typed(step)): CheckpointPut {
  return {
    ns,
    id: idOf(step),
    parent_id: null,
    format: 4,
    checkpoint: typed({}),
    metadata: typed({ step, even: step % 2 === 0 }),
    channels: [["value", value]],
    inherited: [],
  };
}

type Counted = {
  table: CheckpointTable;
  fill: (puts: CheckpointPut[], runId?: string) => void;
  apply: (batch: CheckpointBatch, runId: string) => void;
  /** Returns the number of rows in each checkpoint table. */
  rowCounts: () => Record<string, number>;
  rowsRead: () => number;
  prune: () => boolean;
  sql: SqlStorage;
};

/** Opens a table in a new object; `rowsRead` returns the rows that were read since its last call. */
function withTable<T>(use: (counted: Counted) => T): Promise<T> {
  const stub = env.THREADS.get(env.THREADS.newUniqueId());
  return runInDurableObject(stub, (_, state) => {
    migrateTables(state.storage, THREAD_MIGRATIONS);
    let cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[] = [];
    const sql = new Proxy(state.storage.sql, {
      get: (target, name) => {
        if (name !== "exec") return Reflect.get(target, name) as unknown;
        return (query: string, ...bindings: SqlStorageValue[]) => {
          const cursor = target.exec(query, ...bindings);
          cursors.push(cursor);
          return cursor;
        };
      },
    });
    const table = new CheckpointTable(sql, new ThreadTables(state.storage.sql));
    return use({
      table,
      fill: (puts, runId) =>
        state.storage.transactionSync(() =>
          table.apply(
            puts.map((one) => ({ put: one })),
            runId ?? null,
          ),
        ),
      apply: (batch, runId) => state.storage.transactionSync(() => table.apply(batch, runId)),
      rowCounts: () =>
        Object.fromEntries(
          ["checkpoints", "channel_values", "writes", "run_starts"].map((name) => [
            name,
            state.storage.sql.exec<{ n: number }>(`SELECT count(*) AS n FROM ${name}`).one().n,
          ]),
        ),
      prune: () => state.storage.transactionSync(() => table.prune()),
      sql: state.storage.sql,
      rowsRead: () => {
        const rows = cursors.reduce((sum, cursor) => sum + cursor.rowsRead, 0);
        cursors = [];
        return rows;
      },
    });
  });
}

function steps(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

test.for([
  ["the newest", undefined],
  ["in the middle", 50],
] as const)(
  "a page (%s) reads as many rows of a long thread as of a short one",
  async ([, before], { expect }) => {
    const rows = (count: number): Promise<number> =>
      withTable(({ table, fill, rowsRead }) => {
        fill(steps(count).map((step) => put("", step)));
        rowsRead();
        const query = {
          ns: "",
          limit: 10,
          ...(before === undefined ? {} : { before: idOf(before) }),
        };
        expect(table.page(query).checkpoints).toHaveLength(10);
        return rowsRead();
      });
    const few = await rows(100);
    expect(few).toBeLessThan(100);
    expect(await rows(2000)).toBe(few);
  },
);

test("the namespaces are found without reading every checkpoint", async ({ expect }) => {
  await withTable(({ table, fill, rowsRead }) => {
    fill(["", "a", "b|c"].flatMap((ns) => steps(500).map((step) => put(ns, step))));
    rowsRead();
    expect(table.namespaces()).toEqual(["", "a", "b|c"]);
    expect(rowsRead()).toBeLessThan(20);
  });
});

test("pages of all namespaces are sorted by id, with each checkpoint once", async ({ expect }) => {
  await withTable(({ table, fill }) => {
    fill(steps(90).map((step) => put(["", "a", "b"][step % 3] ?? "", step)));
    const ids: string[] = [];
    let before: string | undefined;
    for (;;) {
      const { checkpoints, next } = table.page({ before, limit: 7 });
      ids.push(...checkpoints.map(({ id }) => id));
      if (next === null) break;
      before = next;
    }
    expect(ids).toEqual(steps(90).map(idOf).toReversed());
    expect(table.page({ id: idOf(4), limit: 7 }).checkpoints.map(({ ns }) => ns)).toEqual(["a"]);
  });
});

test("a page ends before its values are too large for one message", async ({ expect }) => {
  const megabytes: SerializedValue = ["bytes", new Uint8Array(3_000_000)];
  await withTable(({ table, fill }) => {
    fill(steps(5).map((step) => put("", step, megabytes)));
    const first = table.page({ ns: "", limit: 50 });
    expect(first.checkpoints.map(({ id }) => id)).toEqual([idOf(4), idOf(3)]);
    expect(first.next).toBe(idOf(3));
    const huge: SerializedValue = ["bytes", new Uint8Array(9_000_000)];
    fill([put("", 5, huge)]);
    expect(table.page({ ns: "", limit: 50 }).checkpoints.map(({ id }) => id)).toEqual([idOf(5)]);
  });
});

test("a filter with few matches is searched in pages", async ({ expect }) => {
  await withTable(({ table, fill, rowsRead }) => {
    fill(steps(2500).map((step) => put("", step)));
    rowsRead();
    const pages: string[][] = [];
    let before: string | undefined;
    for (;;) {
      const { checkpoints, next } = table.page({ ns: "", before, limit: 5, filter: { step: 3 } });
      expect(rowsRead()).toBeLessThan(1100);
      pages.push(checkpoints.map(({ id }) => id));
      if (next === null) break;
      before = next;
    }
    expect(pages).toEqual([[], [], [idOf(3)]]);
  });
});

/** Returns a pending write on the checkpoint of a step. */
function write(ns: string, step: number): { writes: WritesPut } {
  return {
    writes: {
      ns,
      checkpoint_id: idOf(step),
      task_id: `task ${step}`,
      task_path: "",
      writes: [[0, "value", typed(step)]],
    },
  };
}

test("deleting the last run of a long thread reads no more than of a short one", async ({
  expect,
}) => {
  const rows = (before: number): Promise<number> =>
    withTable(({ table, fill, apply, rowsRead }) => {
      fill(
        steps(before).map((step) => put(["", "a", "b"][step % 3] ?? "", step)),
        "earlier",
      );
      apply([write("", before - 3), { put: put("", before) }, write("", before)], "last");
      rowsRead();
      table.deleteRun("last");
      return rowsRead();
    });
  const few = await rows(30);
  expect(few).toBeLessThan(30);
  expect(await rows(3000)).toBe(few);
});

test("a deleted run leaves the values that other runs have or inherit", async ({ expect }) => {
  await withTable(({ table, fill, apply, rowCounts }) => {
    fill([put("", 1), put("sub", 2)], "first");
    apply([write("", 1)], "first");
    const left = rowCounts();
    apply(
      // It answers the first one's interrupt before it has a checkpoint.
      [
        { writes: { ...write("", 1).writes, task_id: "resumed" } },
        { put: { ...put("", 3), parent_id: idOf(1), channels: [["kept", typed("kept")]] } },
        { put: { ...put("", 4), parent_id: idOf(3), inherited: ["kept"] } },
        { put: put("sub", 5) },
        write("sub", 5),
      ],
      "second",
    );
    const heir = { ...put("", 6), parent_id: idOf(4), inherited: ["kept"] };
    fill([heir], "third");
    table.deleteRun("second");
    // Of the values of deleted rows, only the inherited one is left.
    expect(rowCounts()).toEqual({ ...left, checkpoints: 3, channel_values: 1, run_starts: 3 });
    expect(table.get("", idOf(1))?.writes.map(([task]) => task)).toEqual(["task 1"]);
    expect(table.get("", null)?.channels).toEqual([
      ["kept", typed("kept")],
      ["value", typed(6)],
    ]);
    table.deleteRun("third");
    expect(table.get("", null)?.id).toBe(idOf(1));
  });
});

test("small values are in the row of their checkpoint, large ones beside it", async ({
  expect,
}) => {
  await withTable(({ table, apply, rowCounts }) => {
    const large: SerializedValue = ["bytes", new Uint8Array(100_000).fill(7)];
    const small: SerializedValue = ["bytes", new Uint8Array([0, 10, 255])];
    const first = {
      ...put("", 1),
      channels: [
        ["large", large],
        ["small", small],
        ["none", typed(null)],
      ],
    };
    apply([{ put: first as CheckpointPut }], "run");
    apply(
      [{ put: { ...put("", 2), parent_id: idOf(1), inherited: ["large", "small", "none"] } }],
      "run",
    );
    expect(rowCounts()).toMatchObject({ checkpoints: 2, channel_values: 1 });
    expect(table.get("", idOf(2))?.channels).toEqual([
      ["large", large],
      ["small", small],
      ["none", typed(null)],
      ["value", typed(2)],
    ]);
  });
});

test("values of older releases are inherited by new checkpoints", async ({ expect }) => {
  await withTable(({ table, apply, sql }) => {
    sql.exec(
      `INSERT INTO checkpoints (ns, id, checkpoint_type, checkpoint, metadata_type, metadata, channels, format)
       VALUES ('', ?1, 'json', x'7b7d', 'json', x'7b7d', json_object('old', ?1), 4)`,
      idOf(1),
    );
    sql.exec("INSERT INTO channel_values VALUES ('', ?, 'old', 0, 'json', x'31')", idOf(1));
    apply([{ put: { ...put("", 2), parent_id: idOf(1), inherited: ["old"] } }], "run");
    expect(table.get("", null)?.channels).toEqual([
      ["old", typed(1)],
      ["value", typed(2)],
    ]);
  });
});

test("a pruned thread keeps the values that its last checkpoint inherits", async ({ expect }) => {
  await withTable(({ table, apply, prune, rowCounts }) => {
    apply(
      [
        {
          put: {
            ...put("", 1),
            channels: [
              ["kept", typed("kept")],
              ["lost", typed("lost")],
            ],
          },
        },
      ],
      "run",
    );
    apply([{ put: { ...put("", 2), parent_id: idOf(1), inherited: ["kept"] } }], "run");
    while (prune());
    expect(rowCounts()).toMatchObject({ checkpoints: 1, channel_values: 1 });
    expect(table.get("", null)?.channels).toEqual([
      ["kept", typed("kept")],
      ["value", typed(2)],
    ]);
  });
});

test("a task's simultaneous writes are one row, and count once", async ({ expect }) => {
  await withTable(({ table, apply, rowCounts }) => {
    const writing = (task_id: string, ...writes: WritesPut["writes"]): CheckpointBatch => [
      { writes: { ns: "", checkpoint_id: idOf(1), task_id, task_path: "", writes } },
    ];
    const many = [0, 1, 2].map((idx): WritesPut["writes"][number] => [idx, `c${idx}`, typed(idx)]);
    const error = (text: string) => [-1, "__error__", typed(text)] as WritesPut["writes"][number];
    apply([{ put: put("", 1) }], "run");
    apply(writing("b", ...many), "run");
    apply(writing("a", [0, "first", typed("first")]), "run");
    expect(rowCounts()).toMatchObject({ writes: 2 });
    // A step that is executed again does this.
    apply(writing("b", [1, "again", typed("again")], [3, "new", typed(3)], error("one")), "again");
    apply(writing("b", ...many, error("two")), "again");
    apply(writing("a", [0, "again", typed("again")], [0, "again", typed("again")]), "again");
    const expected = [
      ["a", "first", typed("first")],
      ["b", "__error__", typed("two")],
      ["b", "c0", typed(0)],
      ["b", "c1", typed(1)],
      ["b", "c2", typed(2)],
      ["b", "new", typed(3)],
    ];
    expect(table.get("", idOf(1))?.writes).toEqual(expected);
    expect(rowCounts()).toMatchObject({ writes: 4 });
  });
});

test("a run of an older release can be deleted", async ({ expect }) => {
  const stub = env.THREADS.get(env.THREADS.newUniqueId());
  await runInDurableObject(stub, (_, { storage }) => {
    migrateTables(storage, THREAD_MIGRATIONS.slice(0, 4));
    for (const [id, run] of [
      [1, "kept"],
      [2, "gone"],
      [3, "gone"],
    ]) {
      storage.sql.exec(
        `INSERT INTO checkpoints (ns, id, run_id, checkpoint_type, checkpoint, metadata_type, metadata,
           channels, format) VALUES ('', ?, ?, 'json', x'7b7d', 'json', x'7b7d', '{}', 4)`,
        idOf(Number(id)),
        String(run),
      );
    }
    migrateTables(storage, THREAD_MIGRATIONS);
    const table = new CheckpointTable(storage.sql, new ThreadTables(storage.sql));
    storage.transactionSync(() => table.deleteRun("gone"));
    expect(table.page({ ns: "", limit: 10 }).checkpoints.map(({ id }) => id)).toEqual([idOf(1)]);
  });
});
