import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, vi } from "vitest";
import {
  insertDeployment,
  insertRevision,
  type LogEntry,
  newDeployment,
  type TestDeployment,
  testWithCode,
} from "../support/code-runs.ts";
import { answerOf, send } from "../support/http.ts";
import type { TestServer } from "../support/server.ts";
import { newDeployer } from "../support/deployments.ts";
import { agentClient, deployed, fixtureTarball } from "../support/rollouts.ts";
import { MISSING_ID } from "../support/uuid.ts";

/** The source of a graph that throws. */
const THROWS = readFileSync(new URL("../fixtures/graphs/throws.ts", import.meta.url), "utf8");

const POLL = { timeout: 150_000, interval: 200 };

const test = testWithCode();

type Line = Partial<Pick<LogEntry, "kind" | "level" | "revision_id">> & { message: string };

/** Records lines as the platform's own parts do. */
async function record(server: TestServer, { ref }: TestDeployment, lines: Line[]): Promise<void> {
  const now = Date.now();
  const response = await server.fetch("/record-logs", {
    method: "POST",
    body: JSON.stringify({
      ref,
      lines: lines.map((line) => ({
        kind: "server",
        level: "INFO",
        revision_id: ref.revisionId,
        timestamp: now,
        ...line,
      })),
    }),
  });
  if (!response.ok) throw new Error(await response.text());
}

function post(server: TestServer, { apiKey }: TestDeployment, path: string, body: unknown = {}) {
  return send(server, "POST", path, body, { "x-api-key": apiKey });
}

/** Returns the paths at which the logs of a deployment can be read. */
function paths({ deploymentId, revisionId }: TestDeployment["ref"]): string[] {
  return ["/v1/projects", "/v2/deployments"].flatMap((root) => [
    `${root}/${deploymentId}/revisions/${revisionId}/build_logs`,
    `${root}/${deploymentId}/revisions/${revisionId}/deploy_logs`,
    `${root}/${deploymentId}/deploy_logs`,
  ]);
}

describe("the log routes", () => {
  test("separate the build log from that of the rollout and of the code", async ({
    server,
    deployment,
    expect,
  }) => {
    const second = { ...deployment.ref, revisionId: randomUUID() };
    await insertRevision(server, second);
    await record(server, deployment, [
      { kind: "build", message: "built" },
      { kind: "deploy", message: "deployed" },
      { kind: "server", level: "ERROR", message: "served" },
      { kind: "build", revision_id: second.revisionId, message: "built 2" },
      { kind: "server", revision_id: second.revisionId, message: "served 2" },
    ]);
    const read = async (path: string) => {
      const { status, body } = await post(server, deployment, path);
      const { logs, next_offset } = body as { logs: LogEntry[]; next_offset: null };
      expect([status, next_offset]).toEqual([200, null]);
      return logs.map(({ message }) => message);
    };
    const expected = [["built"], ["served", "deployed"], ["served 2", "served", "deployed"]];
    expect(await Promise.all(paths(deployment.ref).map(read))).toEqual([...expected, ...expected]);
    const [ofSecond] = paths(second);
    expect(await read(ofSecond ?? "")).toEqual(["built 2"]);
  });

  test("return lines with a time, a level, a kind and their revision", async ({
    server,
    deployment,
    expect,
  }) => {
    await record(server, deployment, [{ level: "WARNING", message: "watch out" }]);
    const [path = ""] = paths(deployment.ref).slice(-1);
    const { body } = await post(server, deployment, path, { limit: 1 });
    expect(body).toEqual({
      logs: [
        {
          id: expect.stringMatching(/^\d{16}$/),
          timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
          level: "WARNING",
          message: "watch out",
          kind: "server",
          revision_id: deployment.ref.revisionId,
        },
      ],
      next_offset: null,
    });
  });

  test("return pages, filtered by level, text and time", async ({ server, deployment, expect }) => {
    await record(
      server,
      deployment,
      ["one", "two", "three", "four", "five"].map((message) => ({ message })),
    );
    const [path = ""] = paths(deployment.ref).slice(-1);
    const read = async (body: object) =>
      (await post(server, deployment, path, body)).body as {
        logs: LogEntry[];
        next_offset: string | null;
      };
    const first = await read({ limit: 2 });
    const second = await read({ limit: 2, offset: first.next_offset });
    const third = await read({ limit: 2, offset: second.next_offset });
    const pages = [first, second, third].map(({ logs }) => logs.map(({ message }) => message));
    expect([pages, third.next_offset]).toEqual([
      [["five", "four"], ["three", "two"], ["one"]],
      null,
    ]);
    const from = second.logs[0]?.timestamp;
    const later = await read({ order: "asc", start_time: from });
    expect(later.logs.map(({ message }) => message)).toEqual(["three", "four", "five"]);
    const earlier = await read({ order: "asc", end_time: from });
    expect(earlier.logs.map(({ message }) => message)).toEqual(["one", "two"]);
    expect((await read({ query: "O", level: "INFO" })).logs).toHaveLength(3);
    expect((await read({ level: "ERROR" })).logs).toEqual([]);
    expect((await read({ kind: "server" })).logs).toHaveLength(5);
    expect((await read({ kind: "deploy" })).logs).toEqual([]);
    const nulls = { order: null, limit: null, offset: null, level: null, query: null, kind: null };
    expect((await read({ ...nulls, start_time: null, end_time: null })).logs).toHaveLength(5);
  });

  test.for([
    [{ order: "up" }, ["body", "order"], "enum"],
    [{ limit: 0 }, ["body", "limit"], "greater_than_equal"],
    [{ limit: 1001 }, ["body", "limit"], "less_than_equal"],
    [{ limit: "5" }, ["body", "limit"], "float_type"],
    [{ limit: 1.5 }, ["body", "limit"], "int_type"],
    [{ offset: "2" }, ["body", "offset"], "string_pattern_mismatch"],
    [{ level: "info" }, ["body", "level"], "enum"],
    [{ kind: "runtime" }, ["body", "kind"], "enum"],
    [{ start_time: "yesterday" }, ["body", "start_time"], "datetime_parsing"],
    [{ end_time: -1 }, ["body", "end_time"], "datetime_parsing"],
    [[], ["body"], "dict_type"],
  ] as const)("refuse %j", async ([body, loc, type], { server, deployment, expect }) => {
    for (const path of paths(deployment.ref)) {
      const answer = await post(server, deployment, path, body);
      expect([answer.status, answer.body]).toMatchObject([422, { detail: [{ loc, type }] }]);
    }
  });

  test("refuse a text that is too long", async ({ server, deployment, expect }) => {
    const [path = ""] = paths(deployment.ref);
    const ask = async (chars: number) =>
      (await post(server, deployment, path, { query: "x".repeat(chars) })).status;
    expect([await ask(1000), await ask(1001)]).toEqual([200, 422]);
  });

  test("refuse invalid ids", async ({ server, deployment, expect }) => {
    const answer = await post(server, deployment, "/v1/projects/agent/deploy_logs");
    expect([answer.status, answer.body]).toEqual([
      422,
      {
        detail: [
          {
            loc: ["path", "deployment_id"],
            msg: "Input should be a valid UUID",
            type: "uuid_parsing",
          },
        ],
      },
    ]);
  });

  test("need a key", async ({ server, deployment, expect }) => {
    for (const path of paths(deployment.ref)) {
      expect((await send(server, "POST", path, {})).status).toBe(401);
    }
  });

  test("treat another workspace's deployment like a missing one", async ({
    server,
    deployment,
    expect,
  }) => {
    await record(server, deployment, [{ message: "secret" }]);
    const other = await newDeployment(server);
    const ask = async (ref: TestDeployment["ref"]) => {
      const usage = send(server, "GET", `/v2/deployments/${ref.deploymentId}/usage`, undefined, {
        "x-api-key": other.apiKey,
      });
      const logs = paths(ref).map((path) => post(server, other, path));
      const answers = await Promise.all([...logs, usage].map(answerOf));
      const text = JSON.stringify(answers);
      return text.replaceAll(ref.deploymentId, "D").replaceAll(ref.revisionId, "R");
    };
    const missing = { ...other.ref, deploymentId: MISSING_ID, revisionId: MISSING_ID };
    const nothing = await ask(missing);
    expect(await ask(deployment.ref)).toBe(nothing);
    expect(JSON.parse(nothing)).toEqual(
      Array.from({ length: 7 }, () => ({
        status: 404,
        body: { detail: "Deployment D not found" },
      })),
    );
  });

  test("do not find a revision of another deployment", async ({ server, deployment, expect }) => {
    const mine = { ...deployment.ref, deploymentId: randomUUID(), revisionId: randomUUID() };
    await insertDeployment(server, mine);
    const mixed = { ...deployment.ref, revisionId: mine.revisionId };
    const answers = await Promise.all(
      paths(mixed).map((path) => answerOf(post(server, deployment, path))),
    );
    const missing = { status: 404, body: { detail: `Revision ${mine.revisionId} not found` } };
    const found = { status: 200, body: { logs: [], next_offset: null } };
    expect(answers).toEqual([missing, missing, found, missing, missing, found]);
  });

  test("find logs until their deployment is purged", async ({ server, deployment, expect }) => {
    await record(server, deployment, [{ message: "last words" }]);
    const set = (columns: string) =>
      server.database.run(`UPDATE deployments SET ${columns} WHERE id = ?`, [
        deployment.ref.deploymentId,
      ]);
    await set("status = 'AWAITING_DELETE'");
    expect(await deployment.logs()).toHaveLength(1);
    await set("purged_at = 1");
    await expect(deployment.logs()).rejects.toThrow("404");
    await expect(deployment.usage()).rejects.toThrow("404");
  });
});

test.for([
  ["limit=0", "limit"],
  ["limit=101", "limit"],
  ["offset=-1", "offset"],
  ["offset=x", "offset"],
] as const)("usage refuses %s", async ([query, field], { server, deployment, expect }) => {
  const path = `/v2/deployments/${deployment.ref.deploymentId}/usage?${query}`;
  const answer = await send(server, "GET", path, undefined, { "x-api-key": deployment.apiKey });
  expect([answer.status, answer.body]).toMatchObject([
    422,
    { detail: [{ loc: ["query", field] }] },
  ]);
});

describe("the console of deployed code", () => {
  test("is in the log, in the form that a reader expects", async ({ deployment, expect }) => {
    const answered = await deployment.run(() => {
      console.log("plain", 1, { a: [true] }, "and more");
      console.debug("%s is %d", "x", 1);
      console.warn(new RangeError("too far"));
      console.error("failed:", new TypeError("no function"));
      return "done";
    });
    expect(answered).toBe("done");
    await vi.waitFor(async () => expect(await deployment.logs()).toHaveLength(4), POLL);
    const lines = await deployment.logs();
    expect(lines.map(({ level, message }) => [level, message.replace(/\n[^]*/, "\n…")])).toEqual([
      ["INFO", 'plain 1 {"a":[true]} and more'],
      ["DEBUG", "x is 1"],
      ["WARNING", "RangeError: too far\n…"],
      ["ERROR", "failed: TypeError: no function\n…"],
    ]);
    expect(lines[2]?.message).toMatch(/^RangeError: too far\n {4}at run \(main\.js:\d+:\d+\)/);
    const of = lines.map(({ kind, revision_id }) => [kind, revision_id]);
    expect(of).toEqual(lines.map(() => ["server", deployment.ref.revisionId]));
  });

  test("includes errors that the code could not catch", async ({ deployment, expect }) => {
    await deployment.run((_, { ctx }) => {
      console.log("before");
      ctx.waitUntil(Promise.reject(new Error("in the background")));
    });
    await vi.waitFor(async () => expect(await deployment.logs()).toHaveLength(2), POLL);
    const [before, thrown] = await deployment.logs();
    expect([before?.level, before?.message]).toEqual(["INFO", "before"]);
    expect(thrown?.level).toBe("ERROR");
    expect(thrown?.message).toMatch(/^Uncaught Error: in the background(\n {4}at .*)?/);
  });

  test("is visible in its own deployment only, and long lines are cut", async ({
    server,
    deployment,
    expect,
  }) => {
    const other = await newDeployment(server);
    await Promise.all([
      deployment.run(() => console.log("x".repeat(20_000))),
      other.run(() => console.log("short")),
    ]);
    const texts = async (of: TestDeployment) => (await of.logs()).map(({ message }) => message);
    await vi.waitFor(async () => {
      expect([await texts(deployment), await texts(other)]).toEqual([
        [`${"x".repeat(8168)} [cut: 20000 characters]`],
        ["short"],
      ]);
    }, POLL);
  });

  test("loses lines when flooded and reports it, and the code continues", async ({
    deployment,
    expect,
  }) => {
    const answered = await deployment.run(() => {
      for (let line = 0; line < 2000; line += 1) console.log(`${line} ${"x".repeat(1000)}`);
      return "done";
    });
    expect(answered).toBe("done");
    const last = { order: "desc", limit: 1 };
    await vi.waitFor(async () => expect(await deployment.logs(last)).toHaveLength(1), POLL);
    const [line] = await deployment.logs(last);
    expect([line?.level, line?.message]).toEqual([
      "WARNING",
      "The call's console output was cut off because it was too long",
    ]);
  });
});

test("a rollout and the runs after it are logged in their order", async ({ server, expect }) => {
  const deployer = await newDeployer(server, "plus");
  const tarball = await fixtureTarball("deployed");
  const { deployment, revision } = await deployed(deployer, "told", tarball);
  const read = async (path: string): Promise<LogEntry[]> => {
    const { body } = await deployer.call("POST", `/deployments/${deployment.id}/${path}`, {
      order: "asc",
    });
    return (body as { logs: LogEntry[] }).logs;
  };
  await agentClient(deployment, deployer.apiKey).runs.wait(null, "teller", { input: {} });
  await vi.waitFor(
    async () =>
      expect((await read("deploy_logs")).at(-1)).toMatchObject({
        kind: "server",
        level: "INFO",
        message: 'first step {"of":"teller"}',
        revision_id: revision.id,
      }),
    POLL,
  );
  const [built, served] = [
    await read(`revisions/${revision.id}/build_logs`),
    await read(`revisions/${revision.id}/deploy_logs`),
  ];
  expect(new Set(built.map(({ kind }) => kind))).toEqual(new Set(["build"]));
  expect(served).toEqual(await read("deploy_logs"));
  const kinds = served.map(({ kind }) => kind);
  expect(kinds).toEqual([...kinds.slice(0, -1).map(() => "deploy"), "server"]);
  expect(kinds.length).toBeGreaterThan(1);
});

test("a failed run leaves its error in the log, with its places in the sources", async ({
  server,
  expect,
}) => {
  const deployer = await newDeployer(server, "plus");
  const tarball = await fixtureTarball("deployed/failing.langgraph.json");
  const { deployment } = await deployed(deployer, "failing", tarball);
  const client = agentClient(deployment, deployer.apiKey);
  const { thread_id } = await client.threads.create();
  const { run_id } = await client.runs.create(thread_id, "throws", {
    input: { message: "no such city" },
  });
  const failures = async () => {
    const request = { level: "ERROR", query: run_id };
    const path = `/deployments/${deployment.id}/deploy_logs`;
    const { body } = await deployer.call("POST", path, request);
    return (body as { logs: LogEntry[] }).logs.map(({ message }) => message);
  };
  await vi.waitFor(async () => expect(await failures()).toHaveLength(1), POLL);
  const [failure] = await failures();
  const [title, ...frames] = (failure ?? "").split("\n");
  expect(title).toBe(`Run ${run_id} of graph throws failed: FixtureError: no such city`);
  const line = THROWS.slice(0, THROWS.indexOf("new FixtureError")).split("\n").length;
  expect(frames[0]).toMatch(new RegExp(`^    at .*\\(graphs/throws\\.ts:${line}:\\d+\\)$`));
});
