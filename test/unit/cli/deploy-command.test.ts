import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gunzipSync } from "node:zlib";
import { unpackTar } from "modern-tar";
import { onTestFinished, test } from "vitest";
import {
  DEPLOYMENT_ID,
  REVISION_ID,
  startScriptedControlPlane,
  type ControlPlaneScript,
  type ScriptedServer,
} from "../../support/scripted-control-plane.ts";
import { threadworks } from "../../support/threadworks-command.ts";
import { temporaryProject } from "./support/temporary-project.ts";

const TIMEOUT = 120_000;

async function controlPlane(script: ControlPlaneScript = {}): Promise<ScriptedServer> {
  const server = await startScriptedControlPlane(script);
  onTestFinished(() => server.close());
  return server;
}

function project(config: object = {}, files: Record<string, string> = {}): string {
  const folder = temporaryProject({
    "langgraph.json": { graphs: { echo: "./echo.js:graph" }, ...config },
    "echo.js": ECHO,
    ...files,
  });
  symlinkSync(INSTALLED, join(folder, "node_modules"));
  return folder;
}

/** A project brings its own LangGraph: here it is that of this repository. */
const INSTALLED = resolve(import.meta.dirname, "../../../node_modules");

const ECHO = `
import { Annotation, StateGraph } from "@langchain/langgraph";
const State = Annotation.Root({ text: Annotation });
export const graph = new StateGraph(State)
  .addNode("echo", ({ text }) => ({ text: text + "!" }))
  .addEdge("__start__", "echo")
  .compile();
`;

function requestsOf({ seen }: ScriptedServer): string[] {
  return seen.map(({ method, path }) => `${method} ${path}`);
}

test(
  "a project becomes a new deployment: its name is looked up, and it is uploaded, created and followed to its end",
  async ({ expect }) => {
    const server = await controlPlane({
      deployments: [{ id: "0192a5c0-0000-7000-8000-00000000d002", name: "echo-2" }],
      statuses: ["CREATING", "BUILDING", "DEPLOYING", "DEPLOYED"],
      buildLog: ["unpacked 4 files"],
      deployLog: ["loaded the graph echo"],
    });
    const { code, stdout, stderr } = await threadworks(
      ["deploy", project({ env: { MODEL: "small", EMPTY: "", LANGSMITH_API_KEY: "theirs" } })],
      {
        env: {
          THREADWORKS_URL: `${server.url}/`,
          LANGSMITH_API_KEY: "tw_key",
          LANGSMITH_TENANT_ID: "workspace-1",
          LANGSMITH_DEPLOYMENT_NAME: "echo",
          OPENAI_API_KEY: "sk-shell",
        },
      },
    );

    expect(stderr).toContain("loaded the graph echo");
    expect(code).toBe(0);
    expect(stdout).toBe(`${server.url}/deployments/echo\n`);
    for (const text of [
      "unpacked 4 files",
      "BUILDING",
      "Not sent, as the platform sets it: LANGSMITH_API_KEY",
      'Not sent: OPENAI_API_KEY, which is set in this shell and not in "env"',
      `Created echo: deployment ${DEPLOYMENT_ID}, revision ${REVISION_ID}`,
      "Deployed echo in",
    ]) {
      expect(stderr).toContain(text);
    }
    expect(requestsOf(server).slice(0, 4)).toEqual([
      "GET /v2/deployments?name_contains=echo&limit=100&offset=0",
      "POST /v2/deployments/upload-url",
      "PUT /put/here?signed=1",
      "POST /v2/deployments",
    ]);
    const [looked, , put, created] = server.seen;
    expect(looked?.headers).toMatchObject({
      "x-api-key": "tw_key",
      "x-tenant-id": "workspace-1",
      accept: "application/json",
    });
    expect(put?.headers).toMatchObject({ "content-type": "application/gzip" });
    expect(put?.headers["x-api-key"]).toBeUndefined();
    const files = await unpackTar(gunzipSync(put?.bytes ?? Buffer.alloc(0)));
    expect(files.map(({ header }) => header.name)).toEqual([
      "threadworks.json",
      "langgraph.json",
      "deployment.js",
      "deployment.js.map",
    ]);
    expect(created?.json).toEqual({
      name: "echo",
      source: "internal_source",
      source_config: { deployment_type: "dev" },
      source_revision_config: {
        source_tarball_path: "w/uploads/1.tar.gz",
        langgraph_config_path: "langgraph.json",
      },
      secrets: [{ name: "MODEL", value: "small" }],
    });
  },
  TIMEOUT,
);

test(
  "a deployment with exactly the name gets a revision, however many names contain it",
  async ({ expect }) => {
    const others = Array.from({ length: 130 }, (_, index) => ({
      id: `other-${index}`,
      name: `echo-${index}`,
    }));
    const server = await controlPlane({
      deployments: [...others, { id: DEPLOYMENT_ID, name: "echo" }],
    });
    const { code, stdout } = await threadworks([
      "deploy",
      project(),
      "--host-url",
      server.url,
      "--api-key",
      "k",
      "--name",
      "echo",
      "--no-input",
      "--json",
    ]);

    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      event: "result",
      status: "succeeded",
      deployment_id: DEPLOYMENT_ID,
      revision_id: REVISION_ID,
      name: "echo",
      url: `${server.url}/deployments/echo`,
    });
    const changed = server.seen.find(({ method }) => method === "PATCH");
    expect(changed?.path).toBe(`/v2/deployments/${DEPLOYMENT_ID}`);
    expect(changed?.json).toEqual({
      revision_source: "internal_source",
      source_revision_config: {
        source_tarball_path: "w/uploads/1.tar.gz",
        langgraph_config_path: "langgraph.json",
      },
      secrets: [],
    });
    expect(requestsOf(server)).not.toContain("POST /v2/deployments");
  },
  TIMEOUT,
);

test(
  "a failed revision ends the command with 1, the reason and the last lines",
  async ({ expect }) => {
    const server = await controlPlane({
      statuses: ["BUILDING", "BUILD_FAILED"],
      statusMessage: "threadworks.json: runtime 7 is unknown",
      buildLog: ["unpacked 4 files", "runtime 7 is unknown"],
    });
    const args = ["deploy", project(), "--host-url", server.url, "--api-key", "k", "--no-input"];
    const failure = `error: revision ${REVISION_ID} of echo is BUILD_FAILED: threadworks.json: runtime 7 is unknown\n`;

    const told = await threadworks([...args, "--name", "echo"]);
    expect(told.code).toBe(1);
    expect(told.stdout).toBe("");
    expect(told.stderr).toContain("  | unpacked 4 files\n  | runtime 7 is unknown\n");
    expect(told.stderr.endsWith(failure)).toBe(true);

    const asJson = await threadworks([...args, "--name", "echo", "--json"]);
    expect(asJson.code).toBe(1);
    expect(JSON.parse(asJson.stdout)).toMatchObject({
      status: "failed",
      revision_status: "BUILD_FAILED",
      reason: "threadworks.json: runtime 7 is unknown",
      logs: ["unpacked 4 files", "runtime 7 is unknown"],
    });
    expect(asJson.stderr.endsWith(failure)).toBe(true);
  },
  TIMEOUT,
);

test(
  "a refusal is shown with method, path, status and the platform's message",
  async ({ expect }) => {
    const server = await controlPlane({
      answer: ({ method, path }) =>
        method === "POST" && path === "/v2/deployments"
          ? {
              status: 422,
              json: {
                detail: [{ loc: ["body", "name"], msg: "name is taken", type: "value_error" }],
              },
            }
          : undefined,
    });
    const { code, stdout, stderr } = await threadworks([
      "deploy",
      project(),
      "--host-url",
      server.url,
      "--api-key",
      "k",
      "--name",
      "echo",
      "--no-input",
      "--json",
    ]);
    const message =
      "POST /v2/deployments was answered 422 Unprocessable Entity: name: name is taken";
    expect(code).toBe(1);
    expect(stderr).toContain(`error: ${message}\n`);
    expect(JSON.parse(stdout)).toEqual({ event: "error", message });
  },
  TIMEOUT,
);

test(
  "a given name is stored in the project's .env, and used from then on",
  async ({ expect }) => {
    const server = await controlPlane();
    const folder = project({}, { ".env": "OTHER=1" });
    const connection = ["--host-url", server.url, "--api-key", "k", "--no-wait"];
    const first = await threadworks(["deploy", "--name", "My Echo", ...connection], {
      cwd: folder,
    });
    expect(first.stderr).toContain(`"My Echo" becomes the name my-echo`);
    expect(first.code).toBe(0);
    expect(readFileSync(join(folder, ".env"), "utf8")).toBe(
      "OTHER=1\nLANGSMITH_DEPLOYMENT_NAME=my-echo\n",
    );
    await threadworks(["deploy", ...connection], { cwd: folder });
    const names = server.seen
      .filter(({ method, path }) => method === "POST" && path === "/v2/deployments")
      .map(({ json }) => (json as { name: string; secrets: unknown[] }).name);
    expect(names).toEqual(["my-echo", "my-echo"]);
  },
  TIMEOUT,
);

test(
  "without input the name is the folder's, and nothing is written",
  async ({ expect }) => {
    const server = await controlPlane();
    const folder = project();
    const { code, stdout } = await threadworks([
      "deploy",
      folder,
      "--host-url",
      server.url,
      "--api-key",
      "k",
      "--no-input",
      "--no-wait",
      "--json",
    ]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ status: "started", deployment_id: DEPLOYMENT_ID });
    expect(JSON.parse(stdout)).toMatchObject({
      name: expect.stringMatching(/^threadworks-[a-z0-9-]+$/),
    });
    expect(existsSync(join(folder, ".env"))).toBe(false);
    expect(requestsOf(server).at(-1)).toBe("POST /v2/deployments");
  },
  TIMEOUT,
);

test(
  "an unknown deployment is refused before anything is built",
  async ({ expect }) => {
    const server = await controlPlane({
      answer: ({ path }) =>
        path.startsWith("/v2/deployments/")
          ? { status: 404, json: { detail: "Deployment nobody not found" } }
          : undefined,
    });
    const connection = ["--host-url", server.url, "--api-key", "k"];
    const args = ["deploy", project(), "--deployment-id", "nobody", ...connection];
    const { code, stderr } = await threadworks(args);
    expect(code).toBe(1);
    expect(stderr).toBe(
      [
        `Looking for deployment nobody on ${server.url} ...`,
        "error: GET /v2/deployments/nobody was answered 404 Not Found: Deployment nobody not found",
        "",
      ].join("\n"),
    );
    expect(requestsOf(server)).toEqual(["GET /v2/deployments/nobody"]);
    const both = await threadworks([...args, "--name", "echo"]);
    expect(both).toMatchObject({
      code: 1,
      stderr: "error: name the deployment by --name or by --deployment-id, not by both\n",
    });
  },
  TIMEOUT,
);

test("sources that are too large are refused before anything is uploaded, with the name of the largest part", async ({
  expect,
}) => {
  const server = await controlPlane();
  const folder = temporaryProject({
    "langgraph.json": { graphs: { echo: "./echo.js:graph" } },
    "package-lock.json": "{}",
    "echo.js": ECHO,
  });
  mkdirSync(join(folder, "pictures"));
  // Random bytes, which gzip cannot compress.
  for (const name of ["a", "b"]) {
    writeFileSync(join(folder, "pictures", name), randomBytes(6 * 1024 ** 2));
  }

  const { code, stderr } = await threadworks(["deploy", folder, "--build", "remote"], {
    env: { THREADWORKS_URL: server.url, THREADWORKS_API_KEY: "tw_key" },
  });

  expect(stderr).toMatch(
    /are too large: 12\.0 MB compressed, and 10\.0 MB are the most; pictures alone has 12\.0 MB\. /,
  );
  expect(code).toBe(1);
  expect(requestsOf(server).filter((request) => !request.startsWith("GET"))).toEqual([]);
});

test("a remote build with the platform's LangGraph is refused", async ({ expect }) => {
  const server = await controlPlane();

  const { code, stderr } = await threadworks(
    ["deploy", project(), "--build", "remote", "--langgraph", "ours"],
    { env: { THREADWORKS_URL: server.url, THREADWORKS_API_KEY: "tw_key" } },
  );

  expect(stderr).toContain("--langgraph ours needs --build local");
  expect(code).toBe(1);
  expect(server.seen).toEqual([]);
});
