import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { LLMock } from "@copilotkit/aimock";
import { Client } from "@langchain/langgraph-sdk";
import { test as base } from "vitest";
import { localDatabase } from "../../../cli/database/database.ts";
import { ensureLocalWorkspace } from "../../../cli/database/identity.ts";
import { type Platform, type PlatformLog, startPlatform } from "../../../cli/serve.ts";
import { REPO_ROOT, seedState } from "../../support/built-fixtures.ts";
import { TEST_VARS } from "../../support/server.ts";
import { type CommandResult, threadworks } from "../../support/threadworks-command.ts";
import { installGroup, projectSource } from "./installed-group.ts";
import { modelVariables, startModels } from "./model-server.ts";

const WORKSPACE_ID = "0b5a1f5e-3f5c-4c1e-9d0e-6f6f0a3f1d10";
const API_KEY = `tw_${Buffer.alloc(32, "key of the tests").toString("base64url")}`;

/** Both serve the same folder: the platform itself, as `npm start` does, and a deployment on it. */
export const PLACES = ["started", "deployed"] as const;

type Place = (typeof PLACES)[number];

export type ServedProject = {
  /** A copy of the project; its packages are installed in a parent folder. */
  folder: string;
  /** The platform's messages about the project, in order. */
  logs: PlatformLog[];
  graphs: string[];
  client: (place: Place) => Promise<Client>;
  /** Returns the names of the runs in the trace of a run of the started project. */
  traced: (runId: string) => Promise<string[]>;
  /** Runs `threadworks deploy` on the folder. */
  deploy: (...args: string[]) => Promise<CommandResult>;
};

type ProjectOptions = {
  /** The folder of its sources, if its own folder has none. */
  sources?: string;
  /** Defines the models' answers. */
  answers?: (models: LLMock) => void;
  /** Variables of its `.env`, in addition to those with the addresses of its models. */
  env?: (models: LLMock) => Record<string, string>;
};

/**
 * Returns a `test` whose file shares one project: its packages are installed, it is started, and it is deployed when a
 * test first needs that. `path` is its folder, such as `current/store`.
 */
export function testWithProject(path: string, options: ProjectOptions = {}) {
  return base
    .extend("options", { scope: "file" }, () => options)
    .extend("models", { scope: "file" }, async ({ options }, { onCleanup }) => {
      const models = await startModels();
      onCleanup(() => models.stop());
      options.answers?.(models);
      return models;
    })
    .extend("folder", { scope: "file" }, async ({ options, models }, { onCleanup }) => {
      const folder = await copyProject(path, options.sources ?? path);
      onCleanup(() => rmSync(dirname(folder), { recursive: true, force: true }));
      const variables = { ...modelVariables(models), ...options.env?.(models) };
      writeFileSync(join(folder, ".env"), envFile(variables));
      return folder;
    })
    .extend("project", { scope: "file" }, async ({ folder }, { onCleanup }) => {
      const { project, close } = await serve(folder);
      onCleanup(close);
      return project;
    });
}

/** Makes a copy for one test file, in a new folder below the one with the packages. */
async function copyProject(path: string, sources: string): Promise<string> {
  const [group = path] = path.split("/");
  const runs = join(await installGroup(group), "runs");
  mkdirSync(runs, { recursive: true });
  const copy = join(mkdtempSync(`${runs}/`), basename(path));
  for (const from of new Set([sources, path])) {
    cpSync(projectSource(from), copy, { recursive: true });
  }
  return copy;
}

async function serve(
  folder: string,
): Promise<{ project: ServedProject; close: () => Promise<void> }> {
  const stateDir = mkdtempSync(join(tmpdir(), "threadworks-real-project-"));
  seedState(stateDir);
  const logs: PlatformLog[] = [];
  const platform = await startPlatform({
    repoRoot: REPO_ROOT,
    configPath: folder,
    stateDir,
    port: 0,
    watch: false,
    // `threadworks deploy` reads the schemas from the same sources; reading them here, too, would take a while.
    schemas: false,
    vars: { ...textVars(), AGENT_WORKSPACE_ID: WORKSPACE_ID, LOCAL_API_KEY: API_KEY },
    prepareDatabase: (database) =>
      ensureLocalWorkspace(localDatabase(database), {
        workspaceId: WORKSPACE_ID,
        apiKey: API_KEY,
      }),
    onLog: (line) => void logs.push(line),
  });
  const deploy = deployCommand(folder, platform);
  let deployed: Promise<string> | undefined;
  const client = async (place: Place): Promise<Client> =>
    place === "started"
      ? newClient(platform.url)
      : newClient(await (deployed ??= deploy().then(deployedUrl)));
  return {
    project: {
      folder,
      logs,
      graphs: platform.graphs,
      client,
      deploy,
      traced: (runId) => namesOfTrace(platform, runId),
    },
    close: async () => {
      await platform.close();
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
}

async function namesOfTrace({ url }: Platform, runId: string): Promise<string[]> {
  const response = await fetch(new URL("/api/v1/runs/query", url), {
    method: "POST",
    headers: { "x-api-key": API_KEY, "content-type": "application/json" },
    body: JSON.stringify({ trace: runId, select: ["name"] }),
  });
  const { runs = [] } = (await response.json()) as { runs?: { name: string }[] };
  return runs.map(({ name }) => name);
}

function deployCommand(folder: string, { url }: Platform): ServedProject["deploy"] {
  return (...args) => {
    const platform = ["--host-url", url, "--api-key", API_KEY, "--no-input"];
    const what = args.length === 0 ? [folder] : args;
    return threadworks(["deploy", ...what, ...platform]);
  };
}

/** Returns the one line that `threadworks deploy` prints to stdout. Throws when the command failed. */
function deployedUrl({ code, stdout, stderr }: CommandResult): string {
  if (code !== 0) throw new Error(`threadworks deploy ended with ${code}:\n${stderr}`);
  return stdout.trim();
}

export function newClient(apiUrl: string): Client {
  return new Client({ apiUrl, apiKey: API_KEY, callerOptions: { maxRetries: 0 } });
}

function textVars(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(TEST_VARS)
      .filter(([name]) => name !== "PROJECT_ENV")
      .map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]),
  );
}

function envFile(variables: Record<string, string>): string {
  return Object.entries(variables)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}\n`)
    .join("");
}
