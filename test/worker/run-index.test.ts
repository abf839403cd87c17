import { env } from "cloudflare:workers";
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { v7 } from "uuid";
import { describe, test } from "vitest";
import {
  indexRuns as enterRuns,
  locateRun,
  locateRuns,
} from "../../src/tracing/run-index/locate.ts";
import type { IndexedRun } from "../../src/tracing/shard/shard-ref.ts";

const DAY_MS = 86_400_000;

function place(id: string, fields: Partial<IndexedRun> = {}): IndexedRun {
  return { id, projectId: "p", day: 100, bucket: 0, ...fields };
}

/** Enters runs, and waits until they are on disk. */
async function indexRuns(...given: Parameters<typeof enterRuns>) {
  const { kept, ...told } = await enterRuns(...given);
  await kept;
  return told;
}

/** Returns the object for ids that end in `digit` and contain no time. */
function partition(workspaceId: string, digit: string) {
  return env.RUN_INDEX.getByName(`${workspaceId}/${digit}`);
}

async function rows(workspaceId: string, digit: string, table: string): Promise<string[]> {
  return runInDurableObject(partition(workspaceId, digit), (_, { storage }) =>
    storage.sql
      .exec<{ id: string }>(`SELECT id FROM ${table} ORDER BY id`)
      .toArray()
      .map(({ id }) => id),
  );
}

function idEnding(digit: string): string {
  return `${crypto.randomUUID().slice(0, -1)}${digit}`;
}

/** Returns an environment whose indexes are restarted this number of times before they can store anything. */
function restarting(times: number): Pick<Env, "RUN_INDEX" | "JURISDICTION"> {
  let left = times;
  const getByName = (name: string) => {
    const stub = env.RUN_INDEX.getByName(name);
    const keep = async (instance: string): Promise<boolean> => {
      if (left > 0) await evictDurableObject(stub);
      left -= 1;
      return stub.keep(instance);
    };
    return { reserve: (runs: IndexedRun[]) => stub.reserve(runs), keep };
  };
  return { ...env, RUN_INDEX: { getByName } as unknown as Env["RUN_INDEX"] };
}

describe("the index of runs", () => {
  test("finds each run's shard, for any kind of id", async ({ expect }) => {
    const workspaceId = crypto.randomUUID();
    const ids = [
      ...Array.from({ length: 40 }, () => crypto.randomUUID()),
      ...[0, 1, 400].map((days) => v7({ msecs: Date.now() - days * DAY_MS })),
      "00000000-0000-0000-0000-0000000000ff",
    ];
    const runs = ids.map((id, index) => place(id, { day: index, bucket: index % 3 }));
    expect(await indexRuns(env, workspaceId, runs)).toEqual({ elsewhere: [], awaited: [] });
    const found = await locateRuns(env, workspaceId, [...ids, crypto.randomUUID(), v7()]);
    const byId = new Map(found.map(({ runId, ref }) => [runId, ref]));
    expect(byId.size).toBe(ids.length);
    for (const { id, day, bucket } of runs) {
      expect(byId.get(id)).toEqual({ workspaceId, projectId: "p", day, bucket });
    }
  });

  test("contains nothing of other workspaces, and writes nothing when it is read", async ({
    expect,
  }) => {
    const [workspaceId, other] = [crypto.randomUUID(), crypto.randomUUID()];
    const id = idEnding("a");
    await indexRuns(env, workspaceId, [place(id)]);
    expect(await locateRun(env, other, id)).toBeNull();
    const tables = await runInDurableObject(partition(other, "a"), (_, { storage }) =>
      storage.sql.exec("SELECT name FROM sqlite_master WHERE name = 'places'").toArray(),
    );
    expect(tables).toEqual([]);
  });

  test("keeps a run of a project in its first place, and reports it", async ({ expect }) => {
    const workspaceId = crypto.randomUUID();
    const [moved, same] = [crypto.randomUUID(), crypto.randomUUID()];
    await indexRuns(env, workspaceId, [place(moved), place(same)]);
    const again = [place(moved, { day: 101 }), place(same), place(crypto.randomUUID())];
    const ref = { workspaceId, projectId: "p", day: 100, bucket: 0 };
    expect(await indexRuns(env, workspaceId, again)).toEqual({
      elsewhere: [{ runId: moved, ref }],
      awaited: [],
    });
    expect(await locateRun(env, workspaceId, moved)).toEqual({ runId: moved, ref });
    const { elsewhere } = await indexRuns(env, workspaceId, [place(moved, { bucket: 2 })]);
    expect(elsewhere).toEqual([{ runId: moved, ref }]);
  });

  test("follows a run to another project", async ({ expect }) => {
    const workspaceId = crypto.randomUUID();
    const id = crypto.randomUUID();
    await indexRuns(env, workspaceId, [place(id)]);
    const there = place(id, { projectId: "q", day: 7, bucket: 1 });
    expect(await indexRuns(env, workspaceId, [there])).toEqual({ elsewhere: [], awaited: [] });
    const ref = { workspaceId, projectId: "q", day: 7, bucket: 1 };
    expect(await locateRun(env, workspaceId, id)).toEqual({ runId: id, ref });
  });

  test("announces a run that was requested before it came, once", async ({ expect }) => {
    const workspaceId = crypto.randomUUID();
    const [asked, other] = [idEnding("b"), idEnding("b")];
    expect(await locateRun(env, workspaceId, asked, { await: true })).toBeNull();
    expect(await locateRun(env, workspaceId, other)).toBeNull();
    await evictDurableObject(partition(workspaceId, "b"));
    const put = () => indexRuns(env, workspaceId, [place(asked), place(other)]);
    expect((await put()).awaited).toEqual([asked]);
    expect((await put()).awaited).toEqual([]);
    await locateRun(env, workspaceId, asked, { await: true });
    expect((await put()).awaited).toEqual([]);
  });

  test("loses no run when many requests enter runs at once", async ({ expect }) => {
    const workspaceId = crypto.randomUUID();
    const ids = Array.from({ length: 60 }, () => crypto.randomUUID());
    await Promise.all(
      ids.map((_, index) =>
        indexRuns(
          env,
          workspaceId,
          ids.slice(index, index + 5).map((id) => place(id, { day: index })),
        ),
      ),
    );
    const found = await locateRuns(env, workspaceId, ids);
    expect(new Set(found.map(({ runId }) => runId)).size).toBe(60);
    expect(found).toHaveLength(60);
  });

  test("finds a run that is being written, and enters it again if it was lost", async ({
    expect,
  }) => {
    const workspaceId = crypto.randomUUID();
    const id = idEnding("d");
    const stub = partition(workspaceId, "d");
    await indexRuns(env, workspaceId, [place(idEnding("d"))]);
    const { instance } = await stub.reserve([place(id)]);
    if (instance === null) throw new Error("there is nothing to keep");
    expect(await rows(workspaceId, "d", "places")).not.toContain(id);
    expect(await locateRun(env, workspaceId, id)).not.toBeNull();
    expect(await stub.reserve([place(id, { day: 101 })])).toMatchObject({ elsewhere: [place(id)] });

    await evictDurableObject(stub);
    expect(await stub.keep(instance)).toBe(false);
    expect(await locateRun(env, workspaceId, id)).toBeNull();
  });

  test("enters runs again if their index was restarted before it stored them, up to three times", async ({
    expect,
  }) => {
    const workspaceId = crypto.randomUUID();
    const enter = async (restarts: number) => {
      const [id, waited] = [idEnding("e"), idEnding("e")];
      await locateRun(env, workspaceId, waited, { await: true });
      const entered = indexRuns(restarting(restarts), workspaceId, [place(id), place(waited)]);
      return { ids: [id, waited], entered };
    };
    const { ids, entered } = await enter(2);
    expect(await entered).toEqual({ elsewhere: [], awaited: [ids[1]] });
    await evictDurableObject(partition(workspaceId, "e"));
    expect(await rows(workspaceId, "e", "places")).toEqual(ids.toSorted());
    expect(await rows(workspaceId, "e", "awaited")).toEqual([]);

    const lost = await enter(3);
    await expect(lost.entered).rejects.toThrow("restarted over and over");
    // Runs that were not stored are not in this isolate's cache either: they can be sent again.
    const again = lost.ids.map((id) => place(id));
    await evictDurableObject(partition(workspaceId, "e"));
    expect((await indexRuns(env, workspaceId, again)).awaited).toEqual([lost.ids[1]]);
    expect(await rows(workspaceId, "e", "places")).toEqual([...ids, ...lost.ids].toSorted());
  });

  test("reports runs as not stored if they came to another shard while the index was restarted", async ({
    expect,
  }) => {
    const workspaceId = crypto.randomUUID();
    const id = idEnding("f");
    const index = restarting(1).RUN_INDEX;
    const RUN_INDEX = {
      getByName: (name: string) => {
        const stub = index.getByName(name);
        const keep = async (instance: string): Promise<boolean> => {
          const isKept = await stub.keep(instance);
          if (!isKept) await indexRuns(env, workspaceId, [place(id, { bucket: 2 })]);
          return isKept;
        };
        return { ...stub, keep };
      },
    } as Env["RUN_INDEX"];
    await expect(indexRuns({ ...env, RUN_INDEX }, workspaceId, [place(id)])).rejects.toThrow();
    const ref = { workspaceId, projectId: "p", day: 100, bucket: 2 };
    expect(await locateRun(env, workspaceId, id)).toEqual({ runId: id, ref });
  });

  test("keeps entries that it could not write, and writes them the next time", async ({
    expect,
  }) => {
    const workspaceId = crypto.randomUUID();
    const made = v7();
    const stub = env.RUN_INDEX.getByName(`${workspaceId}/day-${Math.floor(Date.now() / DAY_MS)}`);
    await indexRuns(env, workspaceId, [place(v7())]);
    const { instance } = await stub.reserve([place(made)]);
    const refused = await runInDurableObject(stub, async (index, { storage }) => {
      storage.sql.exec(
        "CREATE TRIGGER full BEFORE INSERT ON packs BEGIN SELECT RAISE(ABORT, 'no room'); END",
      );
      const error: unknown = await index.keep(instance ?? "").then(String, String);
      storage.sql.exec("DROP TRIGGER full");
      return error;
    });
    expect(refused).toContain("no room");
    expect(await stub.reserve([place(made)])).toMatchObject({ instance });
    expect(await stub.keep(instance ?? "")).toBe(true);
    await evictDurableObject(stub);
    expect(await locateRun(env, workspaceId, made)).not.toBeNull();
  });

  test("stores the reservations of several requests at once", async ({ expect }) => {
    const workspaceId = crypto.randomUUID();
    const made = v7();
    const stub = env.RUN_INDEX.getByName(`${workspaceId}/day-${Math.floor(Date.now() / DAY_MS)}`);
    const ids = Array.from({ length: 5 }, (_, index) => `${made.slice(0, -1)}${index}`);
    const instances = await Promise.all(ids.map((id) => stub.reserve([place(id)])));
    // The second one finds nothing to write.
    for (const { instance } of instances.slice(0, 2)) {
      expect(await stub.keep(instance ?? "")).toBe(true);
    }
    await evictDurableObject(stub);
    expect(await locateRuns(env, workspaceId, ids)).toHaveLength(ids.length);
    const packs = await runInDurableObject(stub, (_, { storage }) =>
      storage.sql.exec("SELECT * FROM packs").toArray(),
    );
    expect(packs).toHaveLength(1);
  });

  test("deletes runs that are certainly deleted, and then itself", async ({ expect }) => {
    const workspaceId = crypto.randomUUID();
    const [old, young, waited] = [idEnding("c"), idEnding("c"), idEnding("c")];
    await indexRuns(env, workspaceId, [place(old), place(young)]);
    await locateRun(env, workspaceId, waited, { await: true });
    const stub = partition(workspaceId, "c");
    await runInDurableObject(stub, (_, { storage }) => {
      const entered = Date.now() - 431 * DAY_MS;
      storage.sql.exec("UPDATE places SET entered_at = ? WHERE id = ?", entered, old);
      storage.sql.exec("UPDATE awaited SET since = ?", Date.now() - 3 * DAY_MS);
    });
    await evictDurableObject(stub);
    expect(await runDurableObjectAlarm(stub)).toBe(true);
    expect(await rows(workspaceId, "c", "places")).toEqual([young]);
    expect(await rows(workspaceId, "c", "awaited")).toEqual([]);

    await runInDurableObject(stub, (_, { storage }) => {
      storage.sql.exec("UPDATE places SET entered_at = 0");
    });
    expect(await runDurableObjectAlarm(stub)).toBe(true);
    expect(await runDurableObjectAlarm(stub)).toBe(false);
    expect(await locateRun(env, workspaceId, young)).toBeNull();
    const next = idEnding("c");
    await indexRuns(env, workspaceId, [place(next)]);
    expect(await locateRun(env, workspaceId, next)).not.toBeNull();
    expect(await runDurableObjectAlarm(stub)).toBe(true);
  });
});
