import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { onTestFinished, test, vi } from "vitest";
import { readEnvFile } from "../../../cli/deploy/env-file.ts";
import {
  startScriptedServer,
  type Reply,
  type ScriptedServer,
  type SeenRequest,
} from "../../support/scripted-control-plane.ts";
import {
  startThreadworks,
  threadworks,
  type CommandResult,
} from "../../support/threadworks-command.ts";
import { temporaryProject } from "./support/temporary-project.ts";

const TIMEOUT = 120_000;
const DEV_VARS = resolve(import.meta.dirname, "../../../.dev.vars");
const ID = "0192a5c0-0000-7000-8000-00000000d001";
const AGENT = {
  id: ID,
  name: "agent",
  status: "READY",
  source_config: { custom_url: "http://here/deployments/agent" },
  latest_revision_id: "r-3",
  active_revision_id: "r-2",
};

/** Starts a server with replies by `<method> <path>`, without the query. Everything else is a 404. */
async function serverWith(
  replies: Record<string, (request: SeenRequest) => Reply>,
): Promise<ScriptedServer> {
  const server = await startScriptedServer((request) => {
    const [path] = request.path.split("?");
    const reply = replies[`${request.method} ${path}`];
    return reply?.(request) ?? { status: 404, json: { detail: "not there" } };
  });
  onTestFinished(() => server.close());
  return server;
}

function run(server: ScriptedServer, ...args: string[]): Promise<CommandResult> {
  return threadworks([...args, "--host-url", server.url, "--api-key", "k"]);
}

test(
  "a command finds this machine's platform, and the key that it was started with",
  async ({ expect }) => {
    const server = await serverWith({
      "GET /v2/deployments": () => ({ json: { resources: [] } }),
    });
    const stateDir = temporaryProject({});
    mkdirSync(join(stateDir, "run"));
    const announce = (pid: number): void =>
      writeFileSync(join(stateDir, "run/owner.json"), JSON.stringify({ pid, url: server.url }));
    const { LOCAL_API_KEY: key } = readEnvFile(DEV_VARS);

    announce(process.pid);
    const found = await threadworks(["list", "--state", stateDir, "--json"]);
    expect(found).toEqual({ code: 0, stdout: "[]\n", stderr: "" });
    expect(server.seen[0]?.headers["x-api-key"]).toBe(key);

    // The record of a killed process is left behind.
    const ended = startThreadworks(["--help"]);
    await ended.ended;
    announce(ended.child.pid ?? 0);
    const gone = await threadworks(["list", "--state", stateDir]);
    expect(gone).toMatchObject({ code: 1, stdout: "" });
    expect(gone.stderr).toBe(
      `error: nothing serves ${stateDir}: start it with npm start -- --state ${stateDir}\n`,
    );
  },
  TIMEOUT,
);

test(
  "list prints a table, or the API's own objects",
  async ({ expect }) => {
    const server = await serverWith({
      "GET /v2/deployments": () => ({ json: { resources: [{ ...AGENT, tenant_id: "w" }] } }),
    });
    const table = await run(server, "list", "--name-contains", "age");
    expect(table.stdout).toBe(
      [
        "ID                                    NAME   STATUS  URL",
        `${ID}  agent  READY   http://here/deployments/agent`,
        "",
      ].join("\n"),
    );
    expect(server.seen[0]?.path).toBe("/v2/deployments?name_contains=age&limit=100&offset=0");
    const json = await run(server, "--json", "list");
    expect(JSON.parse(json.stdout)).toEqual([{ ...AGENT, tenant_id: "w" }]);
  },
  TIMEOUT,
);

test(
  "revisions list shows which revision serves",
  async ({ expect }) => {
    const created_at = "2026-03-08T00:00:00Z";
    const server = await serverWith({
      "GET /v2/deployments": () => ({ json: { resources: [AGENT] } }),
      [`GET /v2/deployments/${ID}/revisions`]: () => ({
        json: {
          resources: [
            { id: "r-3", status: "BUILD_FAILED", status_message: "too large", created_at },
            { id: "r-2", status: "DEPLOYED", created_at },
            { id: "r-1", status: "DEPLOYED", created_at },
          ],
        },
      }),
    });
    const { stdout } = await run(server, "revisions", "list", "agent", "--limit", "3");
    expect(stdout.split("\n")).toEqual([
      "ID   STATUS        CREATED               REASON",
      "r-3  BUILD_FAILED  2026-03-08T00:00:00Z  too large",
      "r-2  DEPLOYED      2026-03-08T00:00:00Z",
      "r-1  REPLACED      2026-03-08T00:00:00Z",
      "",
    ]);
    const { stdout: one } = await run(server, "revisions", "list", "agent", "--limit=1", "--json");
    expect(JSON.parse(one)).toMatchObject([{ id: "r-3" }]);
    const { stderr, code } = await run(server, "revisions", "list", "agent", "--limit", "0");
    expect([code, stderr]).toEqual([1, expect.stringContaining("not a whole number above 0")]);
  },
  TIMEOUT,
);

test(
  "delete waits until the deployment is gone",
  async ({ expect }) => {
    let polls = 0;
    const server = await serverWith({
      [`GET /v2/deployments/${ID}`]: () => {
        polls += 1;
        return polls < 4
          ? { json: { ...AGENT, status: "AWAITING_DELETE" } }
          : { status: 404, json: { detail: "not found" } };
      },
      [`DELETE /v2/deployments/${ID}`]: () => ({ status: 204 }),
    });
    const asked = await run(server, "delete", ID);
    expect(asked.code).toBe(1);
    expect(asked.stderr).toBe(
      `error: there is no terminal to ask for confirmation: delete agent (${ID}) with --force\n`,
    );
    expect(server.seen.map(({ method }) => method)).toEqual(["GET"]);

    const { code, stdout, stderr } = await run(
      server,
      "delete",
      ID,
      "--force",
      "--delete-tracing-project",
      "--json",
    );
    expect([code, stderr]).toEqual([0, "Deleting agent ...\n"]);
    expect(JSON.parse(stdout)).toEqual({
      event: "result",
      status: "deleted",
      deployment_id: ID,
      name: "agent",
    });
    expect(server.seen.find(({ method }) => method === "DELETE")?.path).toBe(
      `/v2/deployments/${ID}?delete_tracing_project=true`,
    );
    expect(polls).toBe(4);
  },
  TIMEOUT,
);

test(
  "an error names the missing resource",
  async ({ expect }) => {
    const server = await serverWith({
      "GET /v2/deployments": () => ({ json: { resources: [AGENT] } }),
    });
    const { stderr, code } = await run(server, "logs", "agen");
    expect([code, stderr]).toEqual([1, `error: there is no deployment agen on ${server.url}\n`]);
    const byId = await run(server, "delete", ID, "--force");
    expect([byId.code, byId.stderr]).toEqual([
      1,
      `error: there is no deployment ${ID} on ${server.url}\n`,
    ]);
    const remote = await run(server, "list", "--remote");
    expect([remote.code, remote.stderr]).toEqual([
      1,
      "error: --remote and --env are for workspace and key: give the platform's URL with --host-url\n",
    ]);
  },
  TIMEOUT,
);

test(
  "logs applies its filters, and follows new lines",
  async ({ expect }) => {
    const messages = ["first", "second"];
    const server = await serverWith({
      "GET /v2/deployments": () => ({ json: { resources: [AGENT] } }),
      [`POST /v1/projects/${ID}/deploy_logs`]: ({ json }) => {
        const { order, start_time: since = "1970-01-01" } = json as {
          order: string;
          start_time?: string;
        };
        const lines = messages
          .map((message, index) => ({
            id: String(index),
            timestamp: `2026-03-08T00:00:0${index}.000000Z`,
            level: "WARNING",
            message,
          }))
          .filter(({ timestamp }) => Date.parse(timestamp) >= Date.parse(since));
        return { json: { logs: order === "desc" ? lines.toReversed() : lines, next_offset: null } };
      },
    });
    const command = startThreadworks(
      [
        "logs",
        "-f",
        "--type",
        "server",
        "--level",
        "warning",
        "-q",
        "s",
        "--since",
        "2026-03-08T00:00:00Z",
      ],
      {
        env: {
          LANGGRAPH_HOST_URL: server.url,
          LANGCHAIN_API_KEY: "k",
          LANGSMITH_DEPLOYMENT_NAME: "agent",
        },
      },
    );
    onTestFinished(() => void command.child.kill("SIGKILL"));
    await vi.waitFor(() => expect(command.output.stdout).toContain("second"), { timeout: 150_000 });
    messages.push("third");
    await vi.waitFor(() => expect(command.output.stdout).toContain("third"), { timeout: 150_000 });
    expect(command.output.stdout).toBe(
      [
        "[2026-03-08T00:00:00.000000Z] [WARNING] first",
        "[2026-03-08T00:00:01.000000Z] [WARNING] second",
        "[2026-03-08T00:00:02.000000Z] [WARNING] third",
        "",
      ].join("\n"),
    );
    expect(server.seen.find(({ method }) => method === "POST")?.json).toEqual({
      kind: "server",
      level: "WARNING",
      query: "s",
      start_time: "2026-03-08T00:00:00.000Z",
      order: "desc",
      limit: 100,
    });
  },
  TIMEOUT,
);

test(
  "logs of builds are those of the latest revision, as lines of JSON",
  async ({ expect }) => {
    const line = { id: "1", timestamp: 1_772_928_000_000, level: "INFO", message: "unpacked" };
    const server = await serverWith({
      [`GET /v2/deployments/${ID}`]: () => ({ json: AGENT }),
      [`POST /v1/projects/${ID}/revisions/r-3/build_logs`]: () => ({
        json: { logs: [line], next_offset: null },
      }),
    });
    const args = ["logs", "--deployment-id", ID, "--type", "build"];
    expect((await run(server, ...args, "--json")).stdout).toBe(`${JSON.stringify(line)}\n`);
    expect((await run(server, ...args)).stdout).toBe(
      "[2026-03-08T00:00:00.000Z] [INFO] unpacked\n",
    );
  },
  TIMEOUT,
);
