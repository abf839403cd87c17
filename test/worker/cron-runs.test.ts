import { env, exports } from "cloudflare:workers";
import { runDurableObjectAlarm } from "cloudflare:test";
import { assert, beforeAll, describe, inject, onTestFinished, test, vi } from "vitest";
import { cronSweep, makeDueRun } from "../../src/agent-server/crons/work.ts";
import { runIdOfTick } from "../../src/lib/cron-tick.ts";
import { threadSeenBy } from "../../src/agent-server/threads/thread-stub.ts";
import { ALL_THREADS } from "../../src/agent-server/threads/contract/thread-requests.ts";
import {
  CRON_WORK,
  type CronKey,
  type CronRow,
  findCron,
  insertCron,
  noteTick,
  replaceCron,
} from "../../src/db/crons-repo.ts";
import { takeLease } from "../../src/db/leases-repo.ts";
import { threadObjectName } from "../../src/lib/object-names.ts";
import { runSweep } from "../../src/work/sweep.ts";
import { migrateIndex, newThread, runsOf, type TestThread } from "./support.ts";

beforeAll(() => migrateIndex(inject("migrations")));

const HOUR_MS = 3_600_000;

/** The tick that the crons here have missed, some hours ago. */
const TICK = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - 3 * HOUR_MS;

const MANY = 1000;

type TestCron = CronKey & { row: CronRow };

/** Creates an hourly cron whose last ticks have not been handled. */
async function newCron(values: Partial<CronRow>): Promise<TestCron> {
  const row: CronRow = {
    workspace_id: crypto.randomUUID(),
    deployment_id: "default",
    cron_id: crypto.randomUUID(),
    assistant_id: "",
    thread_id: null,
    on_run_completed: "delete",
    schedule: "0 * * * *",
    timezone: null,
    end_time: null,
    enabled: 1,
    payload: JSON.stringify({ input: {} }),
    metadata: "{}",
    principal: null,
    next_run_at: TICK,
    due_at: TICK,
    lease: null,
    created_at: TICK - 1,
    updated_at: TICK - 1,
    ...values,
  };
  const { workspace_id: workspaceId, deployment_id: deploymentId, cron_id: cronId } = row;
  // This is the default assistant, by its graph's name.
  const assistant_id = row.assistant_id === "" ? "branching" : row.assistant_id;
  assert(await insertCron(env.DB, { ...row, assistant_id }, MANY));
  return { workspaceId, deploymentId, cronId, row: { ...row, assistant_id } };
}

async function newThreadCron(values: Partial<CronRow> = {}) {
  const thread = newThread();
  const { scope, id: thread_id } = thread;
  await thread.api.create({ scope, thread_id, metadata: {}, if_exists: "raise" });
  const cron = await newCron({
    workspace_id: scope.workspaceId,
    thread_id,
    on_run_completed: null,
    ...values,
  });
  return { thread, cron };
}

function makeRun(cron: TestCron, DB: D1Database = env.DB): Promise<void> {
  return makeDueRun({ ...env, DB }, exports, keyOf(cron));
}

function keyOf({ workspaceId, deploymentId, cronId }: TestCron): CronKey {
  return { workspaceId, deploymentId, cronId };
}

async function rowOf(cron: TestCron): Promise<CronRow> {
  const row = await findCron(env.DB, cron, null);
  assert(row !== null);
  return row;
}

/** Returns the separate thread of the run of the cron's tick. */
function ownThread(cron: TestCron): Pick<TestThread, "api" | "object" | "id"> {
  const { workspaceId, deploymentId, cronId } = cron;
  const scope = { workspaceId, deploymentId };
  const id = runIdOfTick({ cronId, at: TICK });
  const name = threadObjectName(scope, id);
  return {
    id,
    api: threadSeenBy(ALL_THREADS, env, scope, id),
    object: env.THREADS.get(env.THREADS.idFromName(name)),
  };
}

async function ids(thread: TestThread): Promise<string[] | undefined> {
  return (await runsOf(thread))?.map(({ run_id }) => run_id);
}

/** Returns a database that fails to note ticks, as for a process that dies before it does. */
function dyingBeforeNoting(): D1Database {
  return new Proxy(env.DB, {
    get: (db, name) => {
      if (name !== "prepare") return Reflect.get(db, name).bind(db);
      return (text: string) => {
        if (text.includes("SET next_run_at")) throw new Error("The process has died");
        return db.prepare(text);
      };
    },
  });
}

/** Returns an environment in which one thread does not answer, as while its object is moved to another machine. */
function withoutThreadOf({ scope, id }: TestThread): Env {
  const lost = threadObjectName(scope, id);
  const THREADS = new Proxy(env.THREADS, {
    get: (threads, name) => {
      const member: unknown = Reflect.get(threads, name);
      if (typeof member !== "function") return member;
      return (...args: unknown[]) => {
        if (name === "getByName" && args[0] === lost) throw new Error("The thread does not answer");
        return Reflect.apply(member, threads, args) as unknown;
      };
    },
  });
  return { ...env, THREADS };
}

/** Records the lines that are logged at this level until the end of the test. */
function linesOf(level: "warn" | "error"): () => unknown[] {
  const lines: string[] = [];
  const spy = vi.spyOn(console, level).mockImplementation((line) => void lines.push(line));
  onTestFinished(() => spy.mockRestore());
  return () => lines.map((line) => JSON.parse(line) as unknown);
}

/** Makes the lease of a dead process expire. */
async function expireLease({ cronId }: TestCron): Promise<void> {
  await env.DB.prepare("UPDATE crons SET due_at = 0 WHERE cron_id = ?").bind(cronId).run();
}

describe("a tick that is due", () => {
  test("makes one run when two sweeps meet it at once", async ({ expect }) => {
    const { thread, cron } = await newThreadCron();
    const sweep = () => runSweep(env, Date.now(), cronSweep(exports));
    await Promise.all([sweep(), sweep(), makeRun(cron)]);
    expect(await ids(thread)).toEqual([runIdOfTick({ cronId: cron.cronId, at: TICK })]);
    const { next_run_at, due_at, lease } = await rowOf(cron);
    expect([due_at, lease]).toEqual([next_run_at, null]);
  });

  test("makes one run for all missed ticks, and the next tick is noted", async ({ expect }) => {
    const { thread, cron } = await newThreadCron();
    const before = Date.now();
    await makeRun(cron);
    const { next_run_at } = await rowOf(cron);
    expect(await ids(thread)).toHaveLength(1);
    expect(next_run_at).toBe(Math.floor(before / HOUR_MS) * HOUR_MS + HOUR_MS);
    await makeRun(cron);
    expect(await ids(thread)).toHaveLength(1);
  });

  test("is the last one if there is no other before the end", async ({ expect }) => {
    const { thread, cron } = await newThreadCron({ end_time: TICK + 1 });
    await makeRun(cron);
    expect(await ids(thread)).toHaveLength(1);
    expect(await rowOf(cron)).toMatchObject({ next_run_at: null, due_at: null, lease: null });
  });

  test("gives its run the cron's payload and metadata", async ({ expect }) => {
    const { thread, cron } = await newThreadCron({
      payload: JSON.stringify({ input: { trail: ["in"] }, stream_mode: ["updates"] }),
      metadata: JSON.stringify({ purpose: "test" }),
    });
    await makeRun(cron);
    const [run] = (await runsOf(thread)) ?? [];
    expect(run).toMatchObject({
      metadata: { purpose: "test", cron_id: cron.cronId },
      kwargs: { input: { trail: ["in"] }, stream_mode: ["updates"] },
    });
  });

  test("is skipped with an error if it cannot make a run, and the next one is noted", async ({
    expect,
  }) => {
    const assistantId = crypto.randomUUID();
    const { thread, cron } = await newThreadCron({ assistant_id: assistantId });
    const logged = linesOf("warn");
    await makeRun(cron);
    expect(await ids(thread)).toEqual([]);
    expect((await rowOf(cron)).next_run_at).toBeGreaterThan(Date.now() - HOUR_MS);
    expect(logged()).toEqual([
      {
        level: "warn",
        event: "cron_tick_left_out",
        workspace_id: cron.workspaceId,
        deployment_id: "default",
        cron_id: cron.cronId,
        reason: expect.stringContaining(assistantId),
      },
    ]);
  });

  test("that fails temporarily is logged, delays no other cron, and is repeated by a later sweep", async ({
    expect,
  }) => {
    const failing = await newThreadCron({ due_at: TICK - 2 });
    const others = [await newThreadCron({ due_at: TICK - 1 }), await newThreadCron()];
    const logged = linesOf("error");
    await runSweep(withoutThreadOf(failing.thread), Date.now(), cronSweep(exports));
    const lines = logged();
    expect(lines).toEqual([
      {
        level: "error",
        event: "sweep_failed",
        task: "make_cron_runs",
        error: expect.stringContaining("The thread does not answer"),
      },
    ]);
    expect(await ids(failing.thread)).toEqual([]);
    expect((await rowOf(failing.cron)).next_run_at).toBe(TICK);
    for (const { thread } of others) expect(await ids(thread)).toHaveLength(1);

    await expireLease(failing.cron);
    await runSweep(env, Date.now(), cronSweep(exports));
    expect(await ids(failing.thread)).toEqual([runIdOfTick({ ...keyOf(failing.cron), at: TICK })]);
  });
});

describe("a process that dies", () => {
  test("before it makes the run leaves that to the next sweep after its lease", async ({
    expect,
  }) => {
    const { thread, cron } = await newThreadCron();
    const now = Date.now();
    const held = { ...keyOf(cron), lease: "of the dead" };
    assert(await takeLease(env.DB, CRON_WORK, held, { now, until: now + HOUR_MS }));
    await makeRun(cron);
    expect(await ids(thread)).toEqual([]);
    await expireLease(cron);
    await makeRun(cron);
    expect(await ids(thread)).toHaveLength(1);
    expect(await noteTick(env.DB, held, null, now)).toBe(false);
  });

  test("before it notes the tick causes no second run on a thread", async ({ expect }) => {
    const { thread, cron } = await newThreadCron();
    await expect(makeRun(cron, dyingBeforeNoting())).rejects.toThrow("The process has died");
    expect(await ids(thread)).toHaveLength(1);
    await expireLease(cron);
    await makeRun(cron);
    expect(await ids(thread)).toHaveLength(1);
    expect((await rowOf(cron)).next_run_at).toBeGreaterThan(TICK);
  });

  test("causes no second run even if the run has ended and its thread is to be deleted", async ({
    expect,
  }) => {
    const cron = await newCron({});
    await expect(makeRun(cron, dyingBeforeNoting())).rejects.toThrow("The process has died");
    const { api, object, id } = ownThread(cron);
    const ended = await vi.waitFor(async () => {
      const run = await api.getRun(id);
      if (run?.status !== "success") throw new Error("It has not ended yet");
      return run;
    }, 60_000);
    await runDurableObjectAlarm(object);
    expect(await api.getRun(id)).toEqual(ended);
    await expireLease(cron);
    await makeRun(cron);
    // After the tick is noted, the thread may be deleted at any time.
    expect((await api.getRun(id)) ?? ended).toEqual(ended);
    await vi.waitFor(async () => {
      await runDurableObjectAlarm(object);
      expect(await api.get()).toBe(null);
    }, 60_000);
  });
});

describe("the run of a cron without a thread", () => {
  test("is deleted with its thread when it has ended", async ({ expect }) => {
    const cron = await newCron({});
    await makeRun(cron);
    const { api, object } = ownThread(cron);
    await vi.waitFor(async () => {
      await runDurableObjectAlarm(object);
      expect(await api.get()).toBe(null);
    }, 60_000);
  });

  test("is kept if the cron says so", async ({ expect }) => {
    const cron = await newCron({ on_run_completed: "keep" });
    await makeRun(cron);
    const { api, id } = ownThread(cron);
    await vi.waitFor(async () => expect((await api.getRun(id))?.status).toBe("success"), 150_000);
    expect(await api.get()).toMatchObject({ thread_id: id, status: "idle" });
  });
});

describe("a change", () => {
  test("of the ticks takes precedence over a sweep that is making a run", async ({ expect }) => {
    const { cron } = await newThreadCron();
    const now = Date.now();
    const held = { ...keyOf(cron), lease: "meanwhile" };
    assert(await takeLease(env.DB, CRON_WORK, held, { now, until: now + HOUR_MS }));
    const current = await rowOf(cron);
    const next = { ...current, enabled: 0, next_run_at: null, updated_at: now + 1 };
    expect(await replaceCron(env.DB, current, next)).toMatchObject({ enabled: 0, lease: null });
    expect(await noteTick(env.DB, held, now + HOUR_MS, now)).toBe(false);
    expect((await rowOf(cron)).next_run_at).toBe(null);
  });

  test("of something else keeps the lease, and is not lost when the tick is noted", async ({
    expect,
  }) => {
    const { cron } = await newThreadCron();
    const now = Date.now();
    const held = { ...keyOf(cron), lease: "meanwhile" };
    assert(await takeLease(env.DB, CRON_WORK, held, { now, until: now + HOUR_MS }));
    const current = await rowOf(cron);
    const next = { ...current, metadata: '{"a":1}', updated_at: now + 1 };
    expect(await replaceCron(env.DB, current, next)).toMatchObject({ lease: "meanwhile" });
    expect(await noteTick(env.DB, held, now + HOUR_MS, now)).toBe(true);
    expect(await rowOf(cron)).toMatchObject({ metadata: '{"a":1}', next_run_at: now + HOUR_MS });
  });

  test("based on an old version changes nothing", async ({ expect }) => {
    const { cron } = await newThreadCron();
    const current = await rowOf(cron);
    const change = (metadata: string, updated_at: number) =>
      replaceCron(env.DB, current, { ...current, metadata, updated_at });
    expect(await change('{"a":1}', current.updated_at + 1)).not.toBe(null);
    expect(await change('{"b":1}', current.updated_at + 2)).toBe(null);
    expect((await rowOf(cron)).metadata).toBe('{"a":1}');
  });
});
