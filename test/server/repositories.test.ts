import { join } from "node:path";
import { Client } from "@langchain/langgraph-sdk";
import { describe } from "vitest";
import { startModels, modelVariables } from "../real-projects/support/model-server.ts";
import { REPO_ROOT } from "../support/built-fixtures.ts";
import { createDeployment, newDeployer } from "../support/deployments.ts";
import { filesOf } from "../support/git-host.ts";
import { agentClient } from "../support/rollouts.ts";
import {
  BUILDS,
  buildLines,
  ended,
  githubBody,
  rolledOut,
  templateFiles,
  testWithRepositories as test,
} from "../support/repository-builds.ts";
import { threadworks } from "../support/threadworks-command.ts";
import { temporaryProject } from "../unit/cli/support/temporary-project.ts";

const PACKAGES = ["@langchain/core", "@langchain/langgraph", "@langchain/openai", "zod"];
const BY_NAME = ["@langchain/core", "@langchain/langgraph", "@langchain/openai", "langchain"];

/** A graph that imports a package of the same repository. */
const MEMBER = `
import { MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import { greeting } from "@acme/words";
export const graph = new StateGraph(MessagesAnnotation)
  .addNode("greet", () => ({ messages: [{ role: "ai", content: greeting }] }))
  .addEdge("__start__", "greet")
  .compile();
`;

const GREETER = MEMBER.replace(/import .* from "@acme.*/, 'const greeting = "Hi";');

const asked = (content: string) => ({ input: { messages: [{ role: "user", content }] } });

describe("a repository becomes a working deployment", BUILDS, () => {
  test("from a template, with its commit, and its packages and their bundles are cached", async ({
    server,
    host,
    registry,
    expect,
  }) => {
    const sha = host.push("acme/agent", await templateFiles(registry, "agent", PACKAGES));
    const deployer = await newDeployer(server);
    const { deployment, revision } = await rolledOut(
      deployer,
      githubBody(host, "agent", "acme/agent"),
    );
    expect(revision).toMatchObject({
      status: "DEPLOYED",
      status_message: null,
      source_revision_config: { repo_ref: null, repo_commit_sha: sha },
    });
    expect(deployment.source_config["repo_url"]).toBe(host.urlOf("acme/agent"));
    const client = agentClient(deployment, deployer.apiKey);
    const values = await client.runs.wait(null, "agent", asked("What is 20 + 22?"));
    expect(JSON.stringify(values)).toContain("42");

    const asksBefore = registry.upstream.seen.length;
    const again = await rolledOut(deployer, githubBody(host, "again", "acme/agent"));
    expect(again.revision).toMatchObject({ status: "DEPLOYED" });
    expect(registry.upstream.seen.length).toBe(asksBefore);
    const linesOf = async (of: typeof deployer, { deployment: made }: typeof again) =>
      (await buildLines(of, made)).filter((line) => /^(?:Installed|Took|Bundled)/.test(line));
    const allPackages = expect.stringMatching(
      /^Installed (\d+) packages of package-lock\.json, .* MB, \1 of them from the cache$/,
    );
    const ofEarlier = expect.stringMatching(
      /^Took \d\d bundles of packages from an earlier build$/,
    );
    expect(await linesOf(deployer, again)).toEqual([
      allPackages,
      ofEarlier,
      "Took the schemas of types from an earlier build",
      "Bundled agent",
    ]);
    const answer = await agentClient(again.deployment, deployer.apiKey).runs.wait(
      null,
      "agent",
      asked("What is 20 + 22?"),
    );
    expect(JSON.stringify(answer)).toContain("42");

    const stranger = await newDeployer(server);
    const theirs = await rolledOut(stranger, githubBody(host, "again", "acme/agent"));
    expect(await linesOf(stranger, theirs)).toEqual([allPackages, "Bundled agent"]);
  });

  test("with a model by its name", async ({ server, host, registry, expect, onTestFinished }) => {
    const models = await startModels();
    onTestFinished(() => models.stop());
    models.on({ userMessage: "weather" }, { content: "It is sunny in Oslo." });
    const folder = join(REPO_ROOT, "test/real-projects/projects/current/model-by-name");
    const files = filesOf(folder);
    const graphs = { chosen: "./src/chosen.ts:graph" };
    host.push("acme/by-name", {
      ...files,
      ...(await registry.manifests(BY_NAME)),
      "langgraph.json": JSON.stringify({ graphs }),
    });
    const deployer = await newDeployer(server);
    const secrets = Object.entries(modelVariables(models)).map(([name, value]) => ({
      name,
      value,
    }));
    const { deployment, revision } = await rolledOut(
      deployer,
      githubBody(host, "by-name", "acme/by-name", { secrets }),
    );
    expect(revision).toMatchObject({ status: "DEPLOYED", status_message: null });
    const client = agentClient(deployment, deployer.apiKey);
    const values = await client.runs.wait(null, "chosen", {
      ...asked("The weather in Oslo?"),
      config: { configurable: { model: "openai:gpt-4.1-mini" } },
    });
    expect(JSON.stringify(values)).toContain("It is sunny in Oslo.");
  });

  test("from a subfolder, with a package that is a link", async ({
    host,
    registry,
    builder,
    expect,
  }) => {
    const manifests = await registry.manifests(PACKAGES.slice(0, 2), { workspace: "apps/agent" });
    const lock = JSON.parse(manifests["package-lock.json"]) as {
      packages: Record<
        string,
        { dependencies?: Record<string, string>; link?: boolean; resolved?: string }
      >;
    };
    const own = { ...lock.packages["apps/agent"]?.dependencies, "@acme/words": "*" };
    lock.packages["apps/agent"] = { dependencies: own };
    lock.packages["packages/words"] = {};
    lock.packages["node_modules/@acme/words"] = { link: true, resolved: "packages/words" };
    host.push("acme/mono", {
      "package.json": JSON.stringify({ workspaces: ["apps/*", "packages/*"] }),
      "package-lock.json": JSON.stringify(lock),
      "apps/agent/package.json": JSON.stringify({ type: "module", dependencies: own }),
      "apps/agent/langgraph.json": JSON.stringify({ graphs: { agent: "./agent.ts:graph" } }),
      "apps/agent/agent.ts": MEMBER,
      "packages/words/package.json": JSON.stringify({ name: "@acme/words", main: "./words.ts" }),
      "packages/words/words.ts": 'export const greeting: string = "Hello from the words";',
    });
    const revision = { langgraph_config_path: "apps/agent/langgraph.json" };
    const made = await rolledOut(builder, githubBody(host, "mono", "acme/mono", { revision }));
    expect(made.revision).toMatchObject({ status: "DEPLOYED", status_message: null });
    const client = agentClient(made.deployment, builder.apiKey);
    expect(JSON.stringify(await client.runs.wait(null, "agent", asked("Hello")))).toContain(
      "Hello from the words",
    );
  });

  test("from sources that the command uploads, without the files that .gitignore excludes", async ({
    server,
    registry,
    builder,
    expect,
  }) => {
    const folder = temporaryProject({
      ...(await registry.manifests(PACKAGES.slice(0, 2))),
      "langgraph.json": { graphs: { agent: "./agent.ts:graph" } },
      "agent.ts": GREETER,
      ".gitignore": "left-out.txt",
      "left-out.txt": "nobody's business",
      "node_modules/thing/index.js": "",
    });
    const platform = ["--host-url", server.url, "--api-key", builder.apiKey, "--no-input"];
    const options = ["--name", "uploaded", "--build", "remote"];
    const { code, stdout, stderr } = await threadworks(["deploy", folder, ...options, ...platform]);
    expect([code, stderr]).toEqual([0, expect.stringContaining("Packed 5 files of")]);
    const client = new Client({ apiUrl: stdout.trim(), apiKey: builder.apiKey });
    expect(JSON.stringify(await client.runs.wait(null, "agent", asked("Hello")))).toContain("Hi");
  });

  test("and its build logs each package as it is done", async ({
    server,
    host,
    registry,
    expect,
  }) => {
    const release = registry.hold("ipaddr.js");
    host.push("acme/told", {
      ...(await registry.manifests(["croner", "ipaddr.js"])),
      "langgraph.json": JSON.stringify({ graphs: { agent: "./agent.js:graph" } }),
      "agent.js": "export const graph = {};",
    });
    const deployer = await newDeployer(server);
    const made = await createDeployment(deployer, githubBody(host, "told", "acme/told"));
    const told = expect.poll(() => buildLines(deployer, made));
    await told.toContainEqual(expect.stringMatching(/^Fetched croner@\d/));
    const path = `/deployments/${made.id}/revisions/${made.latest_revision_id}`;
    expect((await deployer.call("GET", path)).body).toMatchObject({ status: "BUILDING" });
    release();
    await ended(deployer, made);
    const lines = await buildLines(deployer, made);
    expect(
      lines.map((line) => line.replace(/@\d\S*|\d+(?= KiB)|\d+\.\d(?= MB)|http\S+/g, "…")),
    ).toEqual(
      expect.arrayContaining([
        "The source has 4 files",
        "Fetched croner…",
        "Fetched ipaddr.js…",
        "Installed 2 packages of package-lock.json, … MB, 0 of them from the cache",
      ]),
    );
  });

  test.for(["classic", "berry"] as const)(
    "with the lockfile of yarn: %s",
    async (yarn, { host, registry, builder, expect }) => {
      host.push(`acme/${yarn}`, {
        ...(await registry.yarnManifests(PACKAGES.slice(0, 2), yarn)),
        "langgraph.json": JSON.stringify({ graphs: { agent: "./agent.ts:graph" }, env: ".env" }),
        "agent.ts": GREETER,
      });
      const made = await rolledOut(builder, githubBody(host, yarn, `acme/${yarn}`));
      expect(made.revision).toMatchObject({ status: "DEPLOYED", status_message: null });
      const lines = await buildLines(builder, made.deployment);
      // A repository never has that file: its variables are the deployment's secrets.
      expect(lines.filter((line) => line.includes(".env"))).toEqual([]);
      expect(lines).toContainEqual(
        expect.stringMatching(/^Built deployment\.js and \d+ other files: \d+ KiB$/),
      );
      expect(lines.filter((line) => line.startsWith("yarn.lock has digests"))).toHaveLength(
        yarn === "berry" ? 1 : 0,
      );
    },
  );

  test("with the lockfile of pnpm", async ({ host, registry, builder, expect }) => {
    host.push("acme/pnpm", {
      ...(await registry.pnpmManifests(PACKAGES.slice(0, 2))),
      "langgraph.json": JSON.stringify({ graphs: { agent: "./agent.ts:graph" } }),
      "agent.ts": GREETER,
    });
    const made = await rolledOut(builder, githubBody(host, "pnpm", "acme/pnpm"));
    expect(made.revision).toMatchObject({ status: "DEPLOYED", status_message: null });
  });
});
