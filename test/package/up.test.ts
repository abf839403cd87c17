import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { once } from "node:events";
import { join } from "node:path";
import { test as base, vi } from "vitest";
import type { Asked } from "./support/cloudflare/routes.ts";
import { startStandIn, type StandIn } from "./support/cloudflare/stand-in.ts";
import { type Ended, userProject } from "./support/user-project.ts";

const AGENT = `
import { Annotation, StateGraph } from "@langchain/langgraph";
export const graph = new StateGraph(Annotation.Root({ said: Annotation }))
  .addNode("say", () => ({ said: "hello " + process.env.WHO }))
  .addEdge("__start__", "say")
  .compile();
`;

const RESOURCES = {
  databases: [["threadworks", undefined]],
  buckets: [
    ["threadworks-payloads", "default"],
    ["threadworks-sources", "default"],
    ["threadworks-exports", "default"],
  ],
};
const QUEUES = [
  ["threadworks-rollouts", ["threadworks"]],
  ["threadworks-export-steps", ["threadworks"]],
];
const SCRIPTS = [["threadworks", ["ENCRYPTION_KEYS", "PROJECT_ENV", "SIGNING_SECRET"]]];

const test = base
  .extend("host", "127.0.0.1")
  .extend("cloudflare", async ({ host }, { onCleanup }) => {
    const standIn = await startStandIn(host);
    onCleanup(() => standIn.stop());
    return standIn;
  })
  .extend("platform", async ({ host }, { onCleanup }) => {
    // This replaces the deployed Worker, which is only asked whether it is up.
    const server = createServer((request, response) => {
      response.writeHead(request.url === "/ok?check_db=1" ? 200 : 404).end("{}");
    }).listen(0, host);
    await once(server, "listening");
    onCleanup(() => void server.close());
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("There is no port");
    return `http://${host}:${address.port}`;
  })
  .extend("agent", AGENT)
  .extend("project", async ({ agent }, { onCleanup }) => {
    const project = userProject({
      "package.json": { name: "greeter", private: true, type: "module" },
      "langgraph.json": { graphs: { agent: "./agent.js:graph" }, env: { WHO: "you" } },
      "agent.js": agent,
    });
    onCleanup(() => project.remove());
    return project;
  })
  .extend("run", async ({ project, cloudflare, platform }) => {
    const bin = join(project.folder, "node_modules/.bin/threadworks");
    return (command: string): Promise<Ended> => {
      const args = command.split(" ");
      const url = args[0] === "up" ? ["--url", platform] : [];
      return project.run(bin, [...args, ...url], cloudflare.env);
    };
  });

/** Returns the requests since the last call that change something. */
function changes({ asked }: StandIn): string[] {
  return asked.splice(0).filter((line) => !line.startsWith("GET ") && !line.endsWith("/query"));
}

/** Queries the account's only database. */
function rows({ account }: StandIn, sql: string): Record<string, unknown>[] {
  const [database] = account.databases.values();
  const found = database?.sqlite.prepare(sql).all() ?? [];
  // SQLite's rows have no prototype, unlike the values that comparisons expect.
  return JSON.parse(JSON.stringify(found)) as Record<string, unknown>[];
}

/** Returns the number of workspaces, if the migrations that create their table have been applied. */
function rowsOfWorkspaces(standIn: StandIn): object {
  const made = rows(standIn, "SELECT 1 FROM sqlite_master WHERE name = 'workspaces'");
  return made.length === 0 ? {} : { workspaces: rows(standIn, "SELECT 1 FROM workspaces").length };
}

/** The objects of a bucket with a lock rule: none can be deleted. */
class KeepingSet extends Set<string> {
  override delete(): boolean {
    return false;
  }
}

function keyIn({ stdout }: Ended): string | undefined {
  return /API key\s+(tw_us_\S+)/.exec(stdout)?.[1];
}

test("up creates a platform, a repeated up changes nothing, down keeps the data, and down with data removes all", async ({
  run,
  cloudflare,
  platform,
  project,
  expect,
}) => {
  const { account } = cloudflare;
  const planned = await run("up --dry-run");
  expect(planned).toMatchObject({ code: 0 });
  expect(planned.stdout).toContain("Would make the database threadworks.");
  const unhealthy = await run("doctor --account --json");
  expect(unhealthy).toMatchObject({ code: 1 });
  expect(JSON.parse(unhealthy.stdout)).toContainEqual({
    ok: false,
    text: "up would make the database threadworks. Run npx threadworks up",
  });
  expect(changes(cloudflare)).toEqual([]);

  const atUpload: object[] = [];
  cloudflare.interfere = ({ method, path }) => {
    if (`${method} ${path}` !== "PUT /workers/scripts/threadworks") return undefined;
    const { buckets, queues } = account;
    atUpload.push({ ...rowsOfWorkspaces(cloudflare), buckets: buckets.size, queues: queues.size });
    return undefined;
  };
  const first = await run("up");
  expect(first).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`platform  ${platform}`),
  });
  // A Worker that is deployed before its resources would fail in its first minute.
  expect(atUpload).toEqual([{ workspaces: 0, buckets: 3, queues: 2 }]);
  expect(account.summary()).toEqual({ ...RESOURCES, queues: QUEUES, scripts: SCRIPTS });
  const script = account.script("threadworks");
  expect(script).toMatchObject({ crons: ["* * * * *"], onWorkersDev: true, uploads: 1 });
  expect(script.modules).toEqual(["project.js", "templates.js", "worker.js"]);
  expect(script.secrets.get("PROJECT_ENV")).toBe('{"WHO":"you"}');
  expect(rows(cloudflare, "SELECT name FROM workspaces")).toEqual([{ name: "default" }]);
  expect(rows(cloudflare, "SELECT plan FROM billing_plans")).toEqual([{ plan: "enterprise" }]);
  expect(rows(cloudflare, "SELECT name FROM api_keys")).toEqual([{ name: "default" }]);
  expect(keyIn(first)).toBeDefined();

  changes(cloudflare);
  const secrets = new Map(script.secrets);
  const second = await run("up");
  expect(second).toMatchObject({ code: 0, stdout: first.stdout });
  expect(changes(cloudflare)).toEqual([]);
  expect(script).toMatchObject({ secrets, uploads: 1 });

  const healthy = await run("doctor --account");
  expect(healthy.stdout).toContain("The secret SIGNING_SECRET is set.");
  expect(healthy.stdout).not.toContain("up would make");
  expect(changes(cloudflare)).toEqual([]);

  // Other commands find the database through the file that up has written.
  const keys = await run("key list --remote --json");
  expect(JSON.parse(keys.stdout)).toMatchObject([{ name: "default", revoked_at: null }]);

  const refused = await run("down");
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("confirm with --yes") });
  expect(changes(cloudflare)).toEqual([]);

  expect(await run("down --yes")).toMatchObject({ code: 0 });
  expect(account.summary()).toEqual({ ...RESOURCES, queues: [], scripts: SCRIPTS });
  expect(script).toMatchObject({ crons: [], onWorkersDev: false });
  expect(script.metadata.bindings?.map(({ type }) => type)).not.toContain("queue");

  const back = await run("up");
  expect(back).toMatchObject({ code: 0, stdout: first.stdout });
  expect(account.summary()).toEqual({ ...RESOURCES, queues: QUEUES, scripts: SCRIPTS });
  expect(script.secrets).toEqual(secrets);

  expect(await run("down --yes --with-data")).toMatchObject({ code: 0 });
  expect(account.summary()).toEqual({ databases: [], buckets: [], queues: [], scripts: [] });
  expect(existsSync(join(project.folder, ".threadworks/cloudflare/single"))).toBe(false);
});

/**
 * Requests at which `up` is killed, one for each kind of step. With `done`, the request is carried out, but its answer
 * never comes. wrangler requests consumers and schedules at the same time, and does not repeat a request.
 */
const KILLED_AT: { at: RegExp; nth?: number; done?: boolean }[] = [
  { at: /^POST \/d1\/database$/, done: true },
  { at: /^POST \/r2\/buckets$/, nth: 2 },
  { at: /^POST \/queues$/, done: true },
  { at: /^POST \/d1\/database\/[^/]+\/query$/, nth: 7 },
  { at: /^PUT \/workers\/scripts\/threadworks$/, done: true },
  { at: /^PUT \/workers\/scripts\/threadworks\/schedules$/ },
  { at: /^PUT \/workers\/scripts\/threadworks\/secrets$/, nth: 2, done: true },
  { at: /^POST INSERT[^(]* INTO workspaces/i, done: true },
  { at: /^POST INSERT[^(]* INTO api_keys/i, done: true },
];

function nameOf({ method, path, body }: Asked, pattern: RegExp): string {
  if (!pattern.source.includes("INSERT")) return `${method} ${path}`;
  return path.endsWith("/query")
    ? `${method} ${(JSON.parse(String(body)) as { sql: string }).sql}`
    : "";
}

test("up that was killed continues when it is repeated, whatever step it was in", async ({
  project,
  cloudflare,
  platform,
  run,
  expect,
}) => {
  const bin = join(project.folder, "node_modules/.bin/threadworks");
  for (const { at, nth = 1, done = false } of KILLED_AT) {
    let seen = 0;
    let reached = false;
    cloudflare.interfere = (asked) => {
      if (!at.test(nameOf(asked, at))) return undefined;
      seen += 1;
      if (seen < nth) return undefined;
      reached = true;
      return done ? "silent" : "hang";
    };
    const running = project.start(bin, ["up", "--url", platform], cloudflare.env);
    const isOver = (): boolean => reached || running.child.exitCode !== null;
    await vi.waitFor(() => expect(isOver(), `${at}\n${running.output.stderr}`).toBe(true), {
      timeout: 300_000,
    });
    expect(reached, `${at} was never asked`).toBe(true);
    await running.kill();
  }
  cloudflare.interfere = () => undefined;
  const last = await run("up");
  expect(last).toMatchObject({ code: 0 });
  expect(cloudflare.account.summary()).toEqual({ ...RESOURCES, queues: QUEUES, scripts: SCRIPTS });
  expect(rows(cloudflare, "SELECT count(*) AS count FROM workspaces")).toEqual([{ count: 1 }]);
  expect(rows(cloudflare, "SELECT count(*) AS count FROM api_keys")).toEqual([{ count: 1 }]);
  const [key] = rows(cloudflare, "SELECT prefix FROM api_keys") as { prefix: string }[];
  expect(keyIn(last)?.startsWith(key?.prefix ?? "?")).toBe(true);
});

test("down with data empties buckets, and continues after a failure", async ({
  run,
  cloudflare,
  expect,
}) => {
  const { account } = cloudflare;
  const [payloads, sources] = ["threadworks-payloads-eu", "threadworks-sources-us"];
  account.buckets.set(payloads, "eu");
  account.buckets.set(sources, "us");
  const keys = Array.from({ length: 2_500 }, (_, index) => `ws/a b/${index}?"é`);
  account.objects.set(payloads, new Set(keys));

  const removals: number[] = [];
  cloudflare.interfere = ({ method, path, body }) => {
    if (`${method} ${path}` !== `DELETE /r2/buckets/${payloads}/objects`) return undefined;
    removals.push((JSON.parse(String(body)) as string[]).length);
    return removals.length === 2 ? { status: 503 } : undefined;
  };
  const ended = await run("down --yes --with-data --regions");
  expect(ended).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/Cloudflare answered 503 to DELETE .*payloads-eu\/objects/),
  });
  expect(account.objects.get(payloads)?.size).toBe(1_500);
  expect([...account.buckets.keys()]).toContain(payloads);

  expect(await run("down --yes --with-data --regions")).toMatchObject({ code: 0 });
  expect(removals).toEqual([1_000, 1_000, 1_000, 500]);
  expect(account.objects.get(payloads)?.size).toBe(0);
  expect([...account.buckets]).toEqual([]);
});

test("down with data stops at an object that its bucket keeps", async ({
  run,
  cloudflare,
  expect,
}) => {
  const { account } = cloudflare;
  account.buckets.set("threadworks-exports", "default");
  account.objects.set("threadworks-exports", new KeepingSet(["locked.parquet"]));
  const { code, stderr } = await run("down --yes --with-data");
  expect(code).toBe(1);
  expect(stderr).toContain("the bucket threadworks-exports keeps its object locked.parquet");
  expect([...account.buckets.keys()]).toEqual(["threadworks-exports"]);
});

test("up says which request Cloudflare refused, and why", async ({ run, cloudflare, expect }) => {
  cloudflare.interfere = ({ path }) => (path === "/r2/buckets" ? { status: 403 } : undefined);
  const { code, stderr } = await run("up");
  expect(code).toBe(1);
  expect(stderr).toMatch(/^error: Cloudflare answered 403 to POST .*\/r2\/buckets/m);
});

test("two regions share a secret, and the EU asks the US for plans", async ({
  run,
  cloudflare,
  platform,
  project,
  expect,
}) => {
  const { account } = cloudflare;
  expect(await run("up --regions --name acme")).toMatchObject({ code: 0 });
  expect(account.summary()).toMatchObject({
    databases: [
      ["acme-us", "us"],
      ["acme-eu", "eu"],
    ],
    buckets: [
      ["acme-payloads-us", "us"],
      ["acme-sources-us", "us"],
      ["acme-payloads-eu", "eu"],
      ["acme-sources-eu", "eu"],
    ],
  });
  const [us, eu] = ["us", "eu"].map((region) => account.script(`acme-${region}`).secrets);
  expect(us?.get("REGION_SECRET")).toBeDefined();
  expect(eu?.get("REGION_SECRET")).toBe(us?.get("REGION_SECRET"));
  expect(eu?.get("SIGNING_SECRET")).not.toBe(us?.get("SIGNING_SECRET"));
  const file = join(project.folder, ".threadworks/cloudflare/eu/wrangler.json");
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({
    vars: { REGION: "eu", JURISDICTION: "eu", BILLING_URL: platform },
  });
});
