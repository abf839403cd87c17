import { env } from "cloudflare:workers";
import { afterEach, beforeAll, test, vi } from "vitest";
import { logStub } from "../../src/deployment-log/record.ts";
import { UsageMeter } from "../../src/deployment-log/usage-meter.ts";

const NEVER = new Promise<void>(() => {});
const NOTHING = {
  requests: 0,
  refused: 0,
  bytes_sent: 0,
  bytes_received: 0,
  storage_operations: 0,
  storage_rows: 0,
  storage_bytes: 0,
};

const realWait = scheduler.wait.bind(scheduler);

// Objects are loaded with the first call, which must not happen while the clock is stopped.
beforeAll(() => newMeter().usage(), 30_000);

afterEach(() => void vi.restoreAllMocks());

/** Replaces the meter's own waits by these promises; all other waits are unchanged. */
function waitInstead(...waits: Promise<void>[]): void {
  vi.spyOn(scheduler, "wait").mockImplementation((ms, options) =>
    ms === 2000 ? (waits.shift() ?? Promise.resolve()) : realWait(ms, options),
  );
}

function newMeter() {
  const revision = {
    workspaceId: crypto.randomUUID(),
    deploymentId: crypto.randomUUID(),
    revisionId: crypto.randomUUID(),
  };
  const promised: Promise<unknown>[] = [];
  const ctx = { waitUntil: (promise: Promise<unknown>) => void promised.push(promise) };
  return {
    promised,
    meter: () => new UsageMeter(env, ctx, revision),
    usage: () => logStub(env, revision).listUsage({ limit: 10, offset: 0 }),
    messages: async () => {
      const page = await logStub(env, revision).list({
        kinds: ["server"],
        revisionId: revision.revisionId,
        level: "WARNING",
        text: "",
        from: 0,
        to: Number.MAX_SAFE_INTEGER,
        order: "asc",
        limit: 100,
      });
      return page.lines.map(({ message }) => message);
    },
  };
}

test("the counts of many requests are written together", async ({ expect }) => {
  waitInstead();
  const { promised, meter, usage } = newMeter();
  for (let request = 0; request < 5; request += 1) meter().add({ requests: 1, bytes_sent: 2 });
  expect(promised).toHaveLength(1);
  await Promise.all(promised);
  expect(await usage()).toEqual([
    { ...NOTHING, day: Math.floor(Date.now() / 86_400_000), requests: 5, bytes_sent: 10 },
  ]);
});

test("reads and writes for code are counted in addition to its network", async ({ expect }) => {
  waitInstead();
  const { promised, meter, usage } = newMeter();
  meter().add({ requests: 1 });
  meter().addStorage({ operations: 2, rows: 30, bytes: 400 });
  meter().addStorage({ operations: 1, rows: 1, bytes: 1 });
  await Promise.all(promised);
  expect(await usage()).toMatchObject([
    { requests: 1, storage_operations: 3, storage_rows: 31, storage_bytes: 401 },
  ]);
});

test("each day has separate numbers, also if midnight comes before they are written", async ({
  expect,
}) => {
  const waiting = Promise.withResolvers<void>();
  waitInstead(waiting.promise);
  const { promised, meter, usage } = newMeter();
  const now = vi.spyOn(Date, "now");
  const midnight = Math.ceil(Date.now() / 86_400_000) * 86_400_000;
  now.mockReturnValue(midnight - 1);
  meter().add({ requests: 1 });
  now.mockReturnValue(midnight);
  meter().add({ bytes_received: 7 });
  now.mockRestore();
  waiting.resolve();
  await Promise.all(promised);
  const day = midnight / 86_400_000;
  expect(await usage()).toEqual([
    { ...NOTHING, day, bytes_received: 7 },
    { ...NOTHING, day: day - 1, requests: 1 },
  ]);
});

test("numbers that a request failed to write are written by a later one", async ({ expect }) => {
  const start = Date.now();
  const now = vi.spyOn(Date, "now").mockReturnValue(start);
  waitInstead(NEVER);
  const { promised, meter, usage } = newMeter();
  meter().add({ requests: 1 });
  now.mockReturnValue(start + 7000);
  meter().add({ requests: 1 });
  expect(promised).toHaveLength(1);
  now.mockReturnValue(start + 7001);
  meter().add({ requests: 1 });
  expect(promised).toHaveLength(2);
  now.mockRestore();
  await promised[1];
  expect((await usage()).reduce((sum, { requests }) => sum + requests, 0)).toBe(3);
});

test("refusals are one line for each text, up to 50 texts", async ({ expect }) => {
  waitInstead();
  const { promised, meter, usage, messages } = newMeter();
  for (let host = 0; host < 60; host += 1) meter().refuse(`refused: ${host}`);
  meter().refuse("refused: 7");
  await Promise.all(promised);
  const expected = Array.from({ length: 50 }, (_, host) => `refused: ${host}`);
  expected[7] = "refused: 7 (2 times)";
  expect(await messages()).toEqual([
    ...expected,
    "Requests to other hosts were refused, too (10 times)",
  ]);
  expect(await usage()).toMatchObject([{ requests: 0, refused: 61 }]);
});
