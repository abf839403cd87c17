import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ensureLocalWorkspace } from "../../cli/database/identity.ts";
import { withDatabase } from "../../cli/database/open-database.ts";
import { generateApiKey } from "../../src/identity/api-key.ts";
import { BENCH_GRAPHS, REPO_ROOT } from "./paths.ts";
import { startPlatformServer } from "./start-platform.ts";

const WORKSPACE_ID = "5b0f0c5e-6c57-4a3b-9a52-0d9f0b7a3c11";
const API_KEY = generateApiKey("us");

export type TracingPlatform = {
  /** Base URL of the tracing API. */
  url: string;
  apiKey: string;
  /** Id of the process that does the work. */
  workerdPid: number;
  /** Sends a request to the tracing API and returns the JSON of its answer. Throws unless it succeeds. */
  request: (method: "GET" | "POST", path: string, body?: unknown) => Promise<unknown>;
  /** The same for the control plane. */
  control: (method: "GET" | "POST", path: string, body?: unknown) => Promise<unknown>;
  projectId: (name: string) => Promise<string>;
  countRuns: (project: string) => Promise<number>;
  stop: () => Promise<void>;
};

/** Serves the tracing API from a state directory, which may already have data. */
export async function startTracingPlatform(
  stateDir: string,
  options: { vars?: Record<string, string>; workerMain?: string } = {},
): Promise<TracingPlatform> {
  const server = await startPlatformServer({
    configPath: join(BENCH_GRAPHS, "langgraph.json"),
    stateDir,
    ...options,
  });
  try {
    await withDatabase(REPO_ROOT, { kind: "local", stateDir }, (database) =>
      ensureLocalWorkspace(database, { workspaceId: WORKSPACE_ID, apiKey: API_KEY }),
    );
    const url = `${server.url}/api/v1`;
    const request: TracingPlatform["request"] = (method, path, body) =>
      requestJson(method, `${url}${path}`, body);
    return {
      url,
      apiKey: API_KEY,
      workerdPid: workerdPidOf(stateDir),
      request,
      control: (method, path, body) => requestJson(method, `${server.url}/v2${path}`, body),
      projectId: async (name) => {
        const found = (await request("GET", `/sessions?name=${name}`)) as { id: string }[];
        const [project] = found;
        if (project === undefined || found.length > 1) throw new Error(`no project ${name}`);
        return project.id;
      },
      countRuns: async (project) => {
        const body = { session: [project], select: ["run_count"] };
        return ((await request("POST", "/runs/stats", body)) as { run_count: number }).run_count;
      },
      stop: server.stop,
    };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

async function requestJson(method: string, url: string, body: unknown): Promise<unknown> {
  const response = await fetch(url, {
    method,
    headers: { "x-api-key": API_KEY, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${url} gave ${response.status}: ${text}`);
  return JSON.parse(text);
}

function workerdPidOf(stateDir: string): number {
  const runDir = join(stateDir, "run");
  const file = readdirSync(runDir).find((name) => /^workerd-\d+\.pid$/.test(name));
  if (file === undefined) throw new Error(`no workerd is named in ${runDir}`);
  return Number(readFileSync(join(runDir, file), "utf8"));
}
