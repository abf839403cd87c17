import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe } from "vitest";
import { newDeployer } from "../support/deployments.ts";
import {
  BUILDS,
  buildLines,
  githubBody,
  rolledOut,
  testWithRepositories,
} from "../support/repository-builds.ts";
import { agentClient } from "../support/rollouts.ts";
import { installGroup } from "./support/installed-group.ts";
import { startVerdaccio } from "./support/verdaccio.ts";

const execute = promisify(execFile);

const PACKAGES = ["@langchain/core", "@langchain/langgraph"];

const INSTALL_LIMIT_MS = 120_000;

const AGENT = `import { MessagesAnnotation, StateGraph } from "@langchain/langgraph";
export const graph = new StateGraph(MessagesAnnotation)
  .addNode("say", () => ({ messages: [{ role: "ai", content: "Hello" }] }))
  .addEdge("__start__", "say").compile();
`;

/**
 * How each package manager resolves a project with as little installation as possible. Paths are relative to its
 * program.
 */
const MANAGERS = [
  {
    name: "npm",
    lockfile: "package-lock.json",
    program: "npm",
    args: ["install", "--package-lock-only"],
  },
  {
    name: "pnpm",
    lockfile: "pnpm-lock.yaml",
    program: "pnpm/bin/pnpm.cjs",
    args: ["install", "--lockfile-only"],
  },
  {
    name: "yarn 1",
    lockfile: "yarn.lock",
    program: "yarn/bin/yarn.js",
    args: ["install", "--ignore-scripts", "--no-progress"],
  },
  {
    name: "yarn 4",
    lockfile: "yarn.lock",
    program: "@yarnpkg/cli-dist/bin/yarn.js",
    args: ["install", "--mode=update-lockfile"],
  },
] as const;

type Manager = (typeof MANAGERS)[number];

/** The test of a file whose platform fetches packages from a Verdaccio with this repository's installed packages. */
const test = testWithRepositories
  .extend("managers", { scope: "file" }, () => installGroup("package-managers"))
  .extend("verdaccio", { scope: "file" }, async ({ managers, registry }, { onCleanup }) => {
    const verdaccio = await startVerdaccio(managers);
    onCleanup(() => verdaccio.close());
    for (const publication of await registry.publications(PACKAGES)) {
      await verdaccio.publish(publication);
    }
    return verdaccio;
  })
  .override("vars", { scope: "file" }, ({ host, verdaccio }) => ({
    ...host.vars,
    NPM_REGISTRY: verdaccio.url,
  }));

describe("a repository is built by the lockfile that its package manager wrote", BUILDS, () => {
  test.for(MANAGERS)(
    "installs from the lockfile of $name",
    async (manager, { server, host, registry, managers, verdaccio, expect, onTestFinished }) => {
      const folder = mkdtempSync(join(tmpdir(), "threadworks-locked-"));
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
      const { "package.json": manifest } = await registry.manifests(PACKAGES);
      writeFileSync(join(folder, "package.json"), manifest);
      await lock(manager, { folder, managers, registry: verdaccio.url });
      host.push("acme/locked", {
        "package.json": manifest,
        [manager.lockfile]: readFileSync(join(folder, manager.lockfile), "utf8"),
        "langgraph.json": JSON.stringify({ graphs: { agent: "./agent.js:graph" } }),
        "agent.js": AGENT,
      });

      const deployer = await newDeployer(server);
      const { deployment, revision } = await rolledOut(
        deployer,
        githubBody(host, "locked", "acme/locked"),
      );

      expect(revision).toMatchObject({ status: "DEPLOYED", status_message: null });
      expect(await buildLines(deployer, deployment)).toContainEqual(
        expect.stringMatching(new RegExp(`^Installed \\d+ packages of ${manager.lockfile}, `)),
      );
      const client = agentClient(deployment, deployer.apiKey);
      const values = await client.runs.wait(null, "agent", { input: { messages: [] } });
      expect(values).toMatchObject({ messages: [{ type: "ai", content: "Hello" }] });
    },
  );
});

/** Makes the package manager write its lockfile, without this machine's settings and caches. */
async function lock(
  { name, program, args }: Manager,
  { folder, managers, registry }: { folder: string; managers: string; registry: string },
): Promise<void> {
  const env = {
    PATH: process.env["PATH"],
    HOME: folder,
    npm_config_registry: registry,
    YARN_REGISTRY: registry,
    YARN_NPM_REGISTRY_SERVER: registry,
    YARN_UNSAFE_HTTP_WHITELIST: "127.0.0.1",
    YARN_ENABLE_TELEMETRY: "0",
    // By default a package that was published just now is not trusted.
    YARN_NPM_MINIMAL_AGE_GATE: "0",
    YARN_NODE_LINKER: "node-modules",
  };
  const options = { cwd: folder, env, timeout: INSTALL_LIMIT_MS };
  const command: [string, string[]] =
    name === "npm"
      ? [program, [...args]]
      : [process.execPath, [join(managers, "node_modules", program), ...args]];
  await execute(...command, options).catch((error: { stdout?: string }) => {
    throw new Error(`${name} did not lock the project: ${error.stdout}`, { cause: error });
  });
}
