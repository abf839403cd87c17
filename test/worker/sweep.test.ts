import { env } from "cloudflare:workers";
import { beforeEach, test, vi } from "vitest";
import { runSweep, type SweepTask } from "../../src/work/sweep.ts";

const MINUTE = 60_000;

let logged: string[] = [];

beforeEach(() => {
  logged = [];
  const spy = vi.spyOn(console, "error").mockImplementation((line) => void logged.push(line));
  return () => spy.mockRestore();
});

/** Returns a task that records its calls and their arguments. */
function noting(name: string, notes: string[], work = async () => {}): SweepTask {
  return {
    name,
    rows: 7,
    run: async ({ rows }) => {
      notes.push(`${name} ${rows}`);
      await work();
    },
  };
}

test("a failing task does not prevent the others", async ({ expect }) => {
  const notes: string[] = [];
  const failing = noting("first", notes, () => Promise.reject(new Error("no database")));
  await runSweep(env, 0, [failing, noting("second", notes)]);
  expect(notes).toEqual(["first 7", "second 7"]);
  expect(logged.map((line) => JSON.parse(line))).toMatchObject([
    { event: "sweep_failed", task: "first", error: "Error: no database" },
  ]);
});

test("a failing row does not prevent the others", async ({ expect }) => {
  const done: number[] = [];
  const task: SweepTask = {
    name: "rows",
    rows: 3,
    run: ({ each }) =>
      each([1, 2, 3], async (row) => {
        if (row === 2) throw new Error("this one");
        done.push(row);
      }),
  };
  await runSweep(env, 0, [task]);
  expect(done).toEqual([1, 3]);
  expect(logged).toHaveLength(1);
});

test("tasks without time left are done by a later sweep that begins with them", async ({
  expect,
}) => {
  const notes: string[] = [];
  let time = 0;
  const slow = noting("slow", notes, async () => void (time += MINUTE));
  const tasks = [slow, noting("quick", notes)];
  await runSweep(env, 0, tasks, () => time);
  expect(notes).toEqual(["slow 7"]);
  await runSweep(env, MINUTE, tasks, () => time);
  expect(notes).toEqual(["slow 7", "quick 7", "slow 7"]);
});

test("rows without time left are skipped", async ({ expect }) => {
  const done: number[] = [];
  let time = 0;
  const task: SweepTask = {
    name: "rows",
    rows: 10,
    run: ({ each }) =>
      each([1, 2, 3, 4], async (row) => {
        done.push(row);
        time += 25_000;
      }),
  };
  await runSweep(env, 0, [task], () => time);
  expect(done).toEqual([1, 2]);
});
