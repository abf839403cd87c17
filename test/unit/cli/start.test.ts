import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, onTestFinished, test } from "vitest";
import { withDatabase } from "../../../cli/database/open-database.ts";
import { temporaryProject } from "./support/temporary-project.ts";

const TIMEOUT_MS = 180_000;
const REPO_ROOT = join(import.meta.dirname, "../../..");
const CLI = join(REPO_ROOT, "cli");
const NODE_OPTIONS = "--disable-warning=ExperimentalWarning";

type Served = { child: ChildProcess; output: string; url: string };

/** Runs `start.ts` with a project without schemas to read, until it reports that it is ready. */
async function start(folder: string, ...more: string[]): Promise<Served> {
  const args = ["--config", folder, "--state", join(folder, "state"), "--port", "0", ...more];
  const child = spawn(process.execPath, [join(CLI, "start.ts"), ...args], {
    env: { ...process.env, NODE_OPTIONS },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let output = "";
  for await (const chunk of child.stdout.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
    output += chunk;
    const url = /^ready {2}(\S+)$/m.exec(output)?.[1];
    if (url !== undefined) {
      child.stdout.resume();
      return { child, output, url };
    }
  }
  throw new Error(`start.ts ended before it was ready:\n${output}`);
}

async function cli(folder: string, ...args: string[]): Promise<unknown> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [join(CLI, "main.ts"), "--state", join(folder, "state"), "--json", ...args],
    { env: { ...process.env, NODE_OPTIONS } },
  );
  return JSON.parse(stdout);
}

function project(): string {
  return temporaryProject({
    "langgraph.json": { graphs: { answer: "./answer.js:graph" } },
    "answer.js": "export const graph = () => 1;",
  });
}

describe("start", { timeout: TIMEOUT_MS }, () => {
  test("reports what it serves, and ends cleanly on a signal", async ({ expect }) => {
    const { child, output, url } = await start(project());

    expect(output).toContain(`agent server   ${url}\n`);
    expect(output).toContain("graphs         answer\n");
    expect(output).toMatch(
      /^ {2}S3 endpoint {4}http:\/\/127\.0\.0\.1:\d+\/cdn-cgi\/local\/r2\/s3\n {2}S3 bucket {6}threadworks-exports\n {2}S3 key id {6}\w+\n {2}S3 secret {6}[\w-]+$/m,
    );
    expect((await fetch(new URL("/ok", url))).status).toBe(200);

    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([0, null]);
    await expect(fetch(new URL("/ok", url))).rejects.toThrow();
  });

  test("continues interrupted exports at once", async ({ expect }) => {
    const folder = project();
    const { child } = await start(folder);
    child.kill("SIGKILL");
    await once(child, "exit");
    const target = { kind: "local", stateDir: join(folder, "state") } as const;
    const insert = `INSERT INTO export_runs (id, workspace_id, export_id, start_time, end_time, status,
        due_at, created_at, updated_at, lease)
      VALUES ('run', 'workspace', 'export', 0, 1, 'CREATED', ?, 0, 0, 'of the dead')`;
    await withDatabase(REPO_ROOT, target, (database) =>
      database.run(insert, [Date.now() + 3_600_000]),
    );

    await start(folder);

    const rows = await withDatabase(REPO_ROOT, target, (database) =>
      database.run("SELECT lease, due_at FROM export_runs"),
    );
    expect(rows).toEqual([{ lease: "of the dead", due_at: 0 }]);
  });

  test("accepts variables, and reports invalid ones", async ({ expect }) => {
    const folder = project();
    const { url } = await start(folder, "--var", "AGENT_AUTH=api-key");
    expect((await fetch(new URL("/threads/search", url), { method: "POST" })).status).toBe(401);

    await expect(
      promisify(execFile)(process.execPath, [join(CLI, "start.ts"), "--var", "AGENT_AUTH"]),
    ).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining("error: --var AGENT_AUTH is not of the form NAME=value\n"),
    });
  });

  test("shares its workspaces and keys with the command line while it runs", async ({ expect }) => {
    const folder = project();
    await start(folder);

    const workspace = await cli(folder, "workspace", "create", "acme", "--plan", "plus");
    const { id } = workspace as { id: string };
    const key = await cli(folder, "key", "create", "--workspace", id, "--name", "ci");

    expect(key).toMatchObject({ workspace_id: id, name: "ci" });
    expect(await cli(folder, "workspace", "list")).toContainEqual(workspace);
  });

  test("changes plans, and enrols for private connectivity, from the command line", async ({
    expect,
  }) => {
    const folder = project();
    await start(folder);
    const { id } = (await cli(folder, "workspace", "create", "acme")) as { id: string };
    const enrol = ["private-endpoint", "add", "--workspace", id, "--private-only"];

    const plan = await cli(folder, "workspace", "plan", id, "enterprise");
    const endpoint = await cli(folder, ...enrol, "--network", "192.0.2.0/24");

    expect(plan).toMatchObject({ id, plan: "enterprise" });
    expect(endpoint).toMatchObject({ workspace_id: id, networks: ["192.0.2.0/24"] });
  });
});

test(
  "a mistake on the command line prints one line and exits with 1",
  { timeout: TIMEOUT_MS },
  async ({ expect }) => {
    const folder = temporaryProject({});

    await expect(cli(folder, "key", "list")).rejects.toMatchObject({
      code: 1,
      stderr: `error: ${join(folder, "state")} holds no platform yet: start one with npm start\n`,
    });
  },
);
