import { execFile, fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { globSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createServer } from "node:net";
import { promisify } from "node:util";
import { AwsClient } from "aws4fetch";
import { describe, onTestFinished, test, vi } from "vitest";
import {
  startPlatform,
  type Platform,
  type PlatformLog,
  type PlatformOptions,
} from "../../../cli/serve.ts";
import { smallPlatform } from "./support/small-platform.ts";
import { smallPlatformOptions } from "./support/small-platform-options.ts";

const TIMEOUT_MS = 180_000;
const PROCESS = join(import.meta.dirname, "support/platform-process.ts");

type Started = Platform & { logs: PlatformLog[] };

async function start(
  folder: string,
  options: Pick<Partial<PlatformOptions>, "port" | "watch" | "vars" | "shell" | "env"> = {},
): Promise<Started> {
  const logs: PlatformLog[] = [];
  const platform = await startPlatform({
    ...smallPlatformOptions(folder),
    onLog: (line) => logs.push(line),
    ...options,
  });
  onTestFinished(() => platform.close());
  return { ...platform, logs };
}

/** Starts a platform in a separate process, and returns its URL. */
async function startProcess(folder: string): Promise<{ child: ChildProcess; url: string }> {
  const child = fork(PROCESS, [folder], { execArgv: ["--disable-warning=ExperimentalWarning"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [url] = (await once(child, "message")) as [string];
  return { child, url };
}

async function get(url: string, path: string): Promise<unknown> {
  const response = await fetch(new URL(path, url));
  return response.json();
}

async function addNote(url: string, note: string): Promise<void> {
  await fetch(new URL("/notes", url), { method: "POST", body: note });
}

/** Returns the events of the small platform's cron trigger and queue. */
async function events(url: string): Promise<unknown[]> {
  return (await get(url, "/events")) as unknown[];
}

async function enqueue(url: string, message: string): Promise<void> {
  await fetch(new URL("/events", url), { method: "POST", body: message });
}

/** Sends a request to the export bucket, and returns the answer. */
async function s3(
  { s3 }: Started,
  path: string,
  init: RequestInit = {},
): Promise<{ status: number; text: string }> {
  if (s3 === undefined) throw new Error("There is no bucket");
  const client = new AwsClient({ ...s3, service: "s3", region: "auto", retries: 0 });
  const response = await client.fetch(`${s3.endpoint}/${s3.bucket}${path}`, init);
  return { status: response.status, text: await response.text() };
}

function workerdPid(folder: string): number {
  const [file = ""] = globSync(join(folder, "state/run/*.pid"));
  return Number(readFileSync(file, "utf8"));
}

function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return !stat.includes(") Z ");
  } catch {
    return false;
  }
}

describe("a platform", { timeout: TIMEOUT_MS }, () => {
  test("serves the Worker with its graphs, variables and bindings", async ({ expect }) => {
    const { url, graphs } = await start(smallPlatform(), { vars: { GREETING: "given" } });

    expect(graphs).toEqual(["answer"]);
    expect(await get(url, "/graph")).toBe(1);
    expect(await get(url, "/vars")).toEqual(["given", "from .dev.vars", { MODEL: "local" }]);
    expect(await get(url, "/notes")).toEqual({ object: [], d1: [], r2: null });
  });

  test("gives graphs the shell's variables that their code names, and its caller's with precedence", async ({
    expect,
  }) => {
    const folder = smallPlatform();
    writeFileSync(
      join(folder, "answer.js"),
      "export const graph = [process.env.MODEL, process.env.KEY];",
    );
    const { url } = await start(folder, {
      shell: { MODEL: "of the shell", KEY: "of the shell", OTHER: "of the shell" },
      env: { KEY: "of the caller", MORE: "of the caller" },
    });

    const [, , variables] = (await get(url, "/vars")) as unknown[];
    expect(variables).toEqual({
      MODEL: "of the shell",
      KEY: "of the caller",
      MORE: "of the caller",
    });
  });

  test("keeps D1, R2 and objects over a restart", async ({ expect }) => {
    const folder = smallPlatform();
    const first = await start(folder);
    await addNote(first.url, "kept");
    await first.close();
    const modes = ["", "/v3", "/build"].map((path) => statSync(join(folder, `state${path}`)).mode);
    expect(modes.map((mode) => mode & 0o077)).toEqual([0, 0, 0]);

    const second = await start(folder);

    expect(await get(second.url, "/notes")).toEqual({ object: ["kept"], d1: ["kept"], r2: "kept" });
  });

  test("records migrations as wrangler does", async ({ expect }) => {
    const folder = smallPlatform();
    const platform = await start(folder);
    await platform.close();
    const wrangler = createRequire(import.meta.url)
      .resolve("wrangler/package.json")
      .replace("package.json", "bin/wrangler.js");

    const { stdout } = await promisify(execFile)(
      process.execPath,
      [wrangler, "d1", "migrations", "list", "DB", "--local", "--persist-to", "state"],
      { cwd: folder },
    );

    expect(stdout).toContain("No migrations to apply");
  });

  test("refuses an occupied port", async ({ expect }) => {
    const { url } = await start(smallPlatform());
    const port = Number(new URL(url).port);

    await expect(start(smallPlatform(), { port })).rejects.toThrow(
      `port ${port} on 127.0.0.1 is in use; give another with --port`,
    );
  });

  test("fires its cron trigger at once", async ({ expect }) => {
    const { url } = await start(smallPlatform());

    await vi.waitFor(async () => expect(await events(url)).toContain("cron * * * * *"), 150_000);
  });

  test("delivers messages of its queues", async ({ expect }) => {
    const { url } = await start(smallPlatform());

    await enqueue(url, "sent");

    await vi.waitFor(async () => expect(await events(url)).toContain("queue sent"), 150_000);
  });

  test("has a bucket for S3 clients, at the same address after a restart", async ({ expect }) => {
    const folder = smallPlatform();
    const first = await start(folder);
    expect(first.s3).toEqual({
      endpoint: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/cdn-cgi\/local\/r2\/s3$/),
      bucket: "threadworks-exports",
      accessKeyId: "local",
      secretAccessKey: "secret",
    });
    const put = await s3(first, "/a%3D1/file", { method: "PUT", body: "kept" });
    expect(put.status).toBe(200);
    await first.close();

    const second = await start(folder);

    expect(second.s3).toEqual(first.s3);
    expect(await s3(second, "/a%3D1/file")).toEqual({ status: 200, text: "kept" });
    expect((await s3(second, "?list-type=2")).text).toContain("<Key>a=1/file</Key>");
    const other = { ...second, s3: second.s3 && { ...second.s3, secretAccessKey: "other" } };
    expect((await s3(other, "/a%3D1/file")).text).toContain("<Code>SignatureDoesNotMatch</Code>");
  });

  test("reports when the bucket's address had to change", async ({ expect }) => {
    const folder = smallPlatform();
    const first = await start(folder);
    const port = Number(new URL(String(first.s3?.endpoint)).port);
    await first.close();
    const taken = createServer().listen(port, "127.0.0.1");
    await once(taken, "listening");
    onTestFinished(() => void taken.close());

    const second = await start(folder);

    const now = Number(new URL(String(second.s3?.endpoint)).port);
    expect(now).not.toBe(port);
    expect(second.logs).toContainEqual({
      source: "platform",
      level: "warn",
      message: `port ${port} of the bucket for exports is in use; the bucket is now on port ${now}: update the address of destinations`,
    });
  });

  test("refuses a state directory that is in use", async ({ expect }) => {
    const folder = smallPlatform();
    const { url } = await start(folder);

    await expect(start(folder)).rejects.toThrow(
      `${join(folder, "state")} is in use by process ${process.pid}, which serves ${url}`,
    );
  });

  test("reports why a project cannot be started, with the place in its source", async ({
    expect,
  }) => {
    const folder = smallPlatform();
    const host = join(folder, "graph-host.js");
    const working = readFileSync(host, "utf8");
    writeFileSync(host, '\nthrow new Error("no host");\nexport function defineGraphHost() {}');

    await expect(start(folder)).rejects.toThrow(
      /^the project could not be started:\nUncaught Error: no host\n\s+at .*graph-host\.js:2:7$/,
    );
    writeFileSync(host, working);
    expect(await get((await start(folder)).url, "/graph")).toBe(1);
  });
});

describe("a watched project", { timeout: TIMEOUT_MS }, () => {
  test("is reloaded when a file changes", async ({ expect }) => {
    const folder = smallPlatform();
    const { url } = await start(folder, { watch: true });

    writeFileSync(join(folder, "answer.js"), "export const graph = 2;");

    await vi.waitFor(async () => expect(await get(url, "/graph")).toBe(2), 150_000);
  });

  test("keeps its queues and its bucket", async ({ expect }) => {
    const folder = smallPlatform();
    const platform = await start(folder, { watch: true });
    const { url } = platform;
    await s3(platform, "/file", { method: "PUT", body: "kept" });
    await vi.waitFor(async () => expect(await events(url)).not.toEqual([]), 150_000);
    const before = (await events(url)).length;

    writeFileSync(join(folder, "answer.js"), "export const graph = 2;");

    await vi.waitFor(async () => expect(await get(url, "/graph")).toBe(2), 150_000);
    const after = async (): Promise<number> => (await events(url)).length;
    await vi.waitFor(async () => expect(await after()).toBeGreaterThan(before), 150_000);
    await enqueue(url, "sent");
    await vi.waitFor(async () => expect(await events(url)).toContain("queue sent"), 150_000);
    expect((await s3(platform, "/file")).text).toBe("kept");
  });

  test("is served if a graph does not load, which is reported with its place", async ({
    expect,
  }) => {
    const folder = smallPlatform();
    const broken = '\nthrow new Error("no model");\nexport const graph = 1;';
    const problem = /^graph "answer": no model\n {4}at .*\banswer\.js:2:7\)?$/m;
    writeFileSync(join(folder, "answer.js"), broken);
    const { url, logs } = await start(folder, { watch: true });
    const errors = (): string[] =>
      logs
        .filter(({ source, level }) => source === "platform" && level === "error")
        .map(({ message }) => message);

    expect(errors()).toEqual([expect.stringMatching(problem)]);
    expect(await get(url, "/vars")).toContain("from .dev.vars");

    writeFileSync(join(folder, "answer.js"), "export const graph = 2;");
    await vi.waitFor(async () => expect(await get(url, "/graph")).toBe(2), TIMEOUT_MS);
    writeFileSync(join(folder, "answer.js"), broken);
    await vi.waitFor(() => expect(errors()).toHaveLength(2), TIMEOUT_MS);
    expect(errors()[1]).toMatch(problem);
  });

  test("keeps serving the previous version while it is broken", async ({ expect }) => {
    const folder = smallPlatform();
    const { url, logs } = await start(folder, { watch: true });
    const messages = (): string => logs.map(({ message }) => message).join("\n");

    writeFileSync(join(folder, "answer.js"), 'export { graph } from "./new.js";');
    await vi.waitFor(() => expect(messages()).toContain('"./new.js"'), 150_000);
    expect(await get(url, "/graph")).toBe(1);

    writeFileSync(join(folder, "new.js"), "export const graph = 3;");
    await vi.waitFor(async () => expect(await get(url, "/graph")).toBe(3), 150_000);

    rmSync(join(folder, "new.js"));
    writeFileSync(join(folder, "answer.js"), "export const graph = 4;");
    writeFileSync(
      join(folder, "graph-host.js"),
      "throw new Error('boom'); export let defineGraphHost;",
    );
    await vi.waitFor(() => expect(messages()).toContain("Uncaught Error: boom"), 150_000);
    await vi.waitFor(async () => expect(await get(url, "/graph")).toBe(3), 150_000);
  });
});

test(
  "a workerd that crashes is restarted, and ends with its platform",
  async ({ expect }) => {
    const folder = smallPlatform();
    const { child, url } = await startProcess(folder);
    const first = workerdPid(folder);

    process.kill(first, "SIGKILL");
    await vi.waitFor(async () => expect(await get(url, "/graph")).toBe(1), 150_000);
    const second = workerdPid(folder);
    child.kill("SIGKILL");

    expect(second).not.toBe(first);
    await vi.waitFor(() => expect(isRunning(second)).toBe(false), 150_000);
  },
  TIMEOUT_MS,
);

describe("a killed process", { timeout: TIMEOUT_MS }, () => {
  test("leaves no workerd behind, even if its state directory is gone", async ({ expect }) => {
    const folder = smallPlatform();
    const { child } = await startProcess(folder);
    const workerd = workerdPid(folder);

    rmSync(folder, { recursive: true });
    child.kill("SIGKILL");

    await vi.waitFor(() => expect(isRunning(workerd)).toBe(false), 150_000);
  });

  test("leaves no workerd behind, and its state and alarms to the next process", async ({
    expect,
  }) => {
    const folder = smallPlatform();
    const { child, url } = await startProcess(folder);
    const workerd = workerdPid(folder);
    await addNote(url, "kept");
    await get(url, "/alarm?ms=1000");

    child.kill("SIGKILL");

    await vi.waitFor(() => expect(isRunning(workerd)).toBe(false), 150_000);
    const next = await start(folder);
    await vi.waitFor(async () => {
      expect(await get(next.url, "/notes")).toEqual({
        object: ["kept", "alarm"],
        d1: ["kept"],
        r2: "kept",
      });
    }, 60_000);
  });
});
