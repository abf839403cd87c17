import { env } from "cloudflare:workers";
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, describe, test, vi } from "vitest";
import { toLogPageJson, toLogQuery } from "../../src/control-plane/logs/log-json.ts";
import type { LogLine } from "../../src/deployment-log/log-line.ts";
import { type LogPageJson, logQuerySchema } from "../../src/control-plane/logs/log-schemas.ts";
import { logStub, recordLogs, recordUsage } from "../../src/deployment-log/record.ts";
import { NO_USAGE } from "../../src/deployment-log/usage-table.ts";

const DAY_MS = 86_400_000;
const LOG_MS = 14 * DAY_MS;
const NOW = Date.now();

function newDeployment() {
  return { workspaceId: crypto.randomUUID(), deploymentId: crypto.randomUUID() };
}

type Deployment = ReturnType<typeof newDeployment>;

function line(message: string, more: Partial<LogLine> = {}): LogLine {
  return {
    kind: "server",
    revision_id: null,
    timestamp: NOW - 1000,
    level: "INFO",
    message,
    ...more,
  };
}

async function read(
  deployment: Deployment,
  request: object = {},
  which: Partial<Parameters<typeof toLogQuery>[1]> = {},
): Promise<LogPageJson> {
  const query = toLogQuery(logQuerySchema.parse(request), {
    kinds: ["build", "deploy", "server"],
    revisionId: null,
    ...which,
  });
  return toLogPageJson(await logStub(env, deployment).list(query));
}

async function messages(...args: Parameters<typeof read>): Promise<string[]> {
  return (await read(...args)).logs.map(({ message }) => message);
}

async function rows(deployment: Deployment, kind = "server"): Promise<number> {
  return runInDurableObject(logStub(env, deployment), (_, { storage }) => {
    const counted = storage.sql.exec<{ lines: number }>(
      "SELECT count(*) AS lines FROM lines WHERE kind = ?",
      kind,
    );
    return counted.one().lines;
  });
}

const isEmpty = (deployment: Deployment) =>
  runInDurableObject(logStub(env, deployment), async (_, { storage }) => {
    const tables = storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'lines'").toArray();
    return tables.length === 0 && (await storage.getAlarm()) === null;
  });

afterEach(() => void vi.restoreAllMocks());

describe("lines", () => {
  test("are returned as they were recorded, newest first", async ({ expect }) => {
    const deployment = newDeployment();
    const revisionId = crypto.randomUUID();
    const timestamp = Date.UTC(2026, 0, 2, 3, 4, 5, 678) + 10 * 365 * DAY_MS;
    await recordLogs(env, deployment, [
      line("built", { kind: "build", revision_id: revisionId, timestamp: NOW - 5000 }),
      line("in the future", { timestamp, level: "CRITICAL" }),
    ]);
    const { logs, next_offset } = await read(deployment);
    expect(next_offset).toBeNull();
    const built = new Date(NOW - 5000).toISOString().replace("Z", "000Z");
    const [future, past] = logs;
    expect(past).toEqual({
      id: String((NOW - 5000) * 1000),
      timestamp: built,
      level: "INFO",
      message: "built",
      kind: "build",
      revision_id: revisionId,
    });
    expect(future).toMatchObject({ level: "CRITICAL", kind: "server", revision_id: null });
    // A clock that is ahead does not change the order of later lines.
    expect(Date.parse(future?.timestamp ?? "")).toBeLessThanOrEqual(Date.now());
  });

  test("have unique ids that sort in the order of the lines", async ({ expect }) => {
    const deployment = newDeployment();
    await recordLogs(env, deployment, [line("a"), line("b"), line("c", { timestamp: NOW - 500 })]);
    // The line came late, and is still after the others.
    await recordLogs(env, deployment, [line("d", { timestamp: NOW - 900 })]);
    const { logs } = await read(deployment, { order: "asc" });
    expect(logs.map(({ message }) => message)).toEqual(["a", "b", "c", "d"]);
    expect(logs.map(({ id }) => Number(id) - (NOW - 1000) * 1000)).toEqual([
      0, 1, 500_000, 500_001,
    ]);
  });

  test("are cut when they are long", async ({ expect }) => {
    const deployment = newDeployment();
    await recordLogs(env, deployment, [line("x".repeat(10_000))]);
    expect(await messages(deployment)).toEqual([`${"x".repeat(8168)} [cut: 10000 characters]`]);
  });

  test("are recorded by the thousand, in their order", async ({ expect }) => {
    const deployment = newDeployment();
    const many = Array.from({ length: 1200 }, (_, index) => line(String(index)));
    await recordLogs(env, deployment, many);
    const listed = await messages(deployment, { order: "asc", limit: 1000 });
    expect(listed).toEqual(many.slice(0, 1000).map(({ message }) => message));
  });

  test("are written to the console if they cannot be recorded, without an error", async ({
    expect,
  }) => {
    const error = vi.spyOn(console, "error").mockReturnValue();
    const broken = {
      ...env,
      DEPLOYMENT_LOGS: {
        getByName: () => {
          throw new Error("no object");
        },
      },
    } as unknown as Env;
    const deployment = newDeployment();
    await recordLogs(broken, deployment, [line("lost"), line("too")]);
    await recordUsage(broken, deployment, []);
    expect(error.mock.calls.map(([text]) => JSON.parse(String(text)))).toMatchObject([
      { event: "logs_lost", deployment_id: deployment.deploymentId, lines: 2, first: "lost" },
      { event: "usage_lost", message: "no object" },
    ]);
  });

  test("survive the eviction of their object", async ({ expect }) => {
    const deployment = newDeployment();
    await recordLogs(env, deployment, [line("before")]);
    await evictDurableObject(logStub(env, deployment));
    await recordLogs(env, deployment, [line("after")]);
    expect(await messages(deployment)).toEqual(["after", "before"]);
  });
});

describe("a query", () => {
  test("filters by kinds and a revision", async ({ expect }) => {
    const deployment = newDeployment();
    await recordLogs(env, deployment, [
      line("b1", { kind: "build", revision_id: "1" }),
      line("d1", { kind: "deploy", revision_id: "1" }),
      line("s1", { revision_id: "1" }),
      line("s2", { revision_id: "2" }),
    ]);
    expect(await messages(deployment, {}, { kinds: ["deploy", "server"] })).toEqual([
      "s2",
      "s1",
      "d1",
    ]);
    const kinds = ["deploy", "server"] as const;
    expect(await messages(deployment, { kind: "deploy" }, { kinds: [...kinds] })).toEqual(["d1"]);
    expect(await messages(deployment, { kind: "build" }, { kinds: [...kinds] })).toEqual([]);
    expect(await messages(deployment, {}, { revisionId: "1" })).toEqual(["s1", "d1", "b1"]);
    expect(await messages(deployment, {}, { kinds: ["build"], revisionId: "2" })).toEqual([]);
  });

  test("filters by a level and those above it", async ({ expect }) => {
    const deployment = newDeployment();
    const levels = ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] as const;
    await recordLogs(
      env,
      deployment,
      levels.map((level) => line(level, { level })),
    );
    for (const [index, level] of levels.entries()) {
      expect(await messages(deployment, { level, order: "asc" })).toEqual(levels.slice(index));
    }
  });

  test("filters by a text, ignoring the case of ASCII letters", async ({ expect }) => {
    const deployment = newDeployment();
    await recordLogs(env, deployment, [line("100% of Ärger_"), line("nothing")]);
    for (const query of ["100%", "OF Är", "r_", ""]) {
      expect(await messages(deployment, { query })).toContain("100% of Ärger_");
    }
    for (const query of ["1%f", "ärger", "r?"]) {
      expect(await messages(deployment, { query })).toEqual([]);
    }
  });

  test("filters by a time range, whose end is exclusive", async ({ expect }) => {
    const deployment = newDeployment();
    const at = (ms: number) => line(String(ms), { timestamp: NOW - 10_000 + ms });
    await recordLogs(env, deployment, [at(0), at(1), at(2), at(3)]);
    const request = { start_time: NOW - 9999, end_time: new Date(NOW - 9997).toISOString() };
    expect(await messages(deployment, request)).toEqual(["2", "1"]);
  });

  test.for(["asc", "desc"] as const)("is read page by page: %s", async (order, { expect }) => {
    const deployment = newDeployment();
    const all = Array.from({ length: 7 }, (_, index) => String(index));
    await recordLogs(
      env,
      deployment,
      all.map((message) => line(message)),
    );
    const seen: string[] = [];
    let offset: string | null = null;
    let pages = 0;
    do {
      const page: LogPageJson = await read(deployment, { order, limit: 3, offset });
      seen.push(...page.logs.map(({ message }) => message));
      offset = page.next_offset;
      pages += 1;
      // Lines that arrive meanwhile do not make others appear twice.
      if (order === "desc") await recordLogs(env, deployment, [line("late")]);
    } while (offset !== null);
    expect([pages, seen]).toEqual([3, order === "asc" ? all : all.toReversed()]);
  });

  test("ends a page that would be too large, and continues after it", async ({ expect }) => {
    const deployment = newDeployment();
    const long = "x".repeat(8000);
    await recordLogs(
      env,
      deployment,
      Array.from({ length: 600 }, () => line(long)),
    );
    const first = await read(deployment, { limit: 1000 });
    expect(first.logs).toHaveLength(500);
    const second = await read(deployment, { limit: 1000, offset: first.next_offset });
    expect([second.logs.length, second.next_offset]).toEqual([100, null]);
  });
});

test("a client that follows by the time of the last line sees each line once", async ({
  expect,
}) => {
  const deployment = newDeployment();
  const printed: string[] = [];
  const seen = new Set<string>();
  let request: object = { limit: 5, order: "desc" };
  const poll = async () => {
    const { logs } = await read(deployment, request);
    const fresh = logs.filter(({ id }) => !seen.has(id));
    for (const { id, message } of fresh) {
      seen.add(id);
      printed.push(message);
    }
    const last = fresh.at(-1);
    if (last !== undefined) request = { limit: 5, order: "asc", start_time: last.timestamp };
  };
  await recordLogs(env, deployment, [line("0")]);
  await poll();
  // There are more lines of one millisecond than a page has, and some that come late.
  await recordLogs(
    env,
    deployment,
    Array.from({ length: 12 }, (_, n) => line(String(n + 1))),
  );
  await poll();
  await recordLogs(env, deployment, [line("13", { timestamp: NOW - 60_000 })]);
  for (let polls = 0; polls < 4; polls += 1) await poll();
  expect(printed).toEqual(Array.from({ length: 14 }, (_, n) => String(n)));
});

describe("retention", () => {
  test("hides expired lines, and the alarm deletes them", async ({ expect }) => {
    const deployment = newDeployment();
    await recordLogs(env, deployment, [
      line("old", { timestamp: NOW - LOG_MS - 1000 }),
      line("young", { timestamp: NOW - LOG_MS + 60_000 }),
    ]);
    expect(await messages(deployment)).toEqual(["young"]);
    expect(await rows(deployment)).toBe(2);
    expect(await runDurableObjectAlarm(logStub(env, deployment))).toBe(true);
    expect(await rows(deployment)).toBe(1);
    // A second delivery of the alarm changes nothing.
    expect(await runDurableObjectAlarm(logStub(env, deployment))).toBe(true);
    expect(await messages(deployment)).toEqual(["young"]);
  });

  test("keeps the newest lines of each kind, in bounded steps", async ({ expect }) => {
    const deployment = newDeployment();
    await recordLogs(env, deployment, [
      line("built", { kind: "build", timestamp: NOW - 70_000_000 }),
    ]);
    await runInDurableObject(logStub(env, deployment), (_, { storage }) => {
      storage.sql.exec(
        `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 61999)
         INSERT INTO lines (time, kind, revision_id, level, message)
         SELECT ? + i, 'server', NULL, 1, 'n' || i FROM n`,
        (NOW - 60_000_000) * 1000,
      );
    });
    const newest = Array.from({ length: 1000 }, (_, index) => line(`new ${index}`));
    await recordLogs(env, deployment, newest);
    await vi.waitFor(async () => expect(await rows(deployment)).toBe(50_000), 150_000);
    const [oldest] = await messages(deployment, { order: "asc" }, { kinds: ["server"] });
    expect(oldest).toBe("n13000");
    expect(await messages(deployment, { order: "asc", limit: 1 })).toEqual(["built"]);
  });

  test("deletes an object without any line to keep", async ({ expect }) => {
    const deployment = newDeployment();
    await recordLogs(env, deployment, [line("old", { timestamp: NOW - LOG_MS - 1 })]);
    const today = Math.floor(NOW / DAY_MS);
    const little = { ...NO_USAGE, requests: 1 };
    await recordUsage(env, deployment, [{ day: today - 400, ...little }]);
    await runDurableObjectAlarm(logStub(env, deployment));
    expect(await isEmpty(deployment)).toBe(true);
    await recordLogs(env, deployment, [line("again")]);
    expect(await messages(deployment)).toEqual(["again"]);
  });
});

describe("a log object", () => {
  test("answers even if it was never written to, and stays empty", async ({ expect }) => {
    const deployment = newDeployment();
    expect(await read(deployment)).toEqual({ logs: [], next_offset: null });
    expect(await logStub(env, deployment).listUsage({ limit: 10, offset: 0 })).toEqual([]);
    expect(await isEmpty(deployment)).toBe(true);
  });

  test("has nothing left after it is erased, which can be repeated", async ({ expect }) => {
    const deployment = newDeployment();
    const other = newDeployment();
    await recordLogs(env, deployment, [line("mine")]);
    await recordLogs(env, other, [line("theirs")]);
    await logStub(env, deployment).erase();
    await logStub(env, deployment).erase();
    expect(await isEmpty(deployment)).toBe(true);
    expect(await messages(deployment)).toEqual([]);
    expect(await messages(other)).toEqual(["theirs"]);
  });
});

test("usage is added up by day, and is listed in pages", async ({ expect }) => {
  const deployment = newDeployment();
  const today = Math.floor(NOW / DAY_MS);
  const some = {
    ...NO_USAGE,
    requests: 2,
    refused: 1,
    bytes_sent: 3,
    bytes_received: 2 ** 40,
    storage_rows: 5,
  };
  await recordUsage(env, deployment, [
    { day: today - 1, ...some },
    { day: today, ...some },
  ]);
  await recordUsage(env, deployment, [{ day: today, ...some }]);
  const list = (limit: number, offset: number) =>
    logStub(env, deployment).listUsage({ limit, offset });
  const twice = {
    ...NO_USAGE,
    requests: 4,
    refused: 2,
    bytes_sent: 6,
    bytes_received: 2 ** 41,
    storage_rows: 10,
  };
  expect(await list(1, 0)).toEqual([{ day: today, ...twice }]);
  expect(await list(5, 1)).toEqual([{ day: today - 1, ...some }]);
});
