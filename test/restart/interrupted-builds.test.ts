import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { DeploymentBody } from "../support/deployments.ts";
import { GitHost } from "../support/git-host.ts";
import { deletionOf, pushOf, PUSH_SECRETS, sendEvent } from "../support/github-webhook.ts";
import { NpmRegistry } from "../support/npm-registry.ts";
import { githubBody } from "../support/repository-builds.ts";
import type { RevisionBody } from "../support/rollouts.ts";
import { callDeployments, ENDED } from "./support/call-deployments.ts";
import { PlatformProcess } from "./support/platform-process.ts";
import { chooseSeed, Random } from "./support/random.ts";
import { until } from "./support/until.ts";

const KILLS = 16;
/** About as long as a build takes on a machine that is not busy. */
const MAX_DELAY_MS = 5000;
/** One in this many kills ends workerd alone, which the server restarts by itself. */
const CRASHES = 4;
const END_TIMEOUT_MS = 600_000;

const seed = chooseSeed();
const random = new Random(seed);
let platform: PlatformProcess;
let host: GitHost;
let registry: NpmRegistry;
/** Two commits of the repository whose build succeeds. */
let sha: string;
let next: string;

beforeAll(async () => {
  host = await GitHost.start();
  registry = await NpmRegistry.start();
  const agent = {
    "langgraph.json": JSON.stringify({ graphs: { agent: "./agent.js:graph" } }),
    "agent.js": `
      import { MessagesAnnotation, StateGraph } from "@langchain/langgraph";
      export const graph = new StateGraph(MessagesAnnotation)
        .addNode("answer", () => ({}))
        .addEdge("__start__", "answer")
        .compile();`,
  };
  const manifests = await registry.manifests(["@langchain/core", "@langchain/langgraph"]);
  sha = host.push("acme/good", { ...agent, ...manifests });
  next = host.push("acme/good", { ...agent, ...manifests, "README.md": "" }, { branch: "kept" });
  host.push("acme/bad", { ...agent, "package.json": "{}" });
  platform = await PlatformProcess.start({ vars: { ...host.vars, NPM_REGISTRY: registry.url } });
});
afterAll(async () => {
  await platform.dispose();
  await host.close();
  await registry.close();
});

const call = (method: string, path: string, body?: unknown): Promise<unknown> =>
  callDeployments(platform, method, path, body);

async function latestOf({ id }: DeploymentBody): Promise<RevisionBody> {
  const { resources } = (await call("GET", `/${id}/revisions?limit=1`)) as {
    resources: RevisionBody[];
  };
  const [latest] = resources;
  if (latest === undefined) throw new Error(`deployment ${id} has no revision`);
  return latest;
}

/** Delivers an event as GitHub does, and repeats the delivery until it is answered. */
async function deliver(url: string, payload: object, event = "push"): Promise<void> {
  await until(
    () =>
      sendEvent(url, payload, { event }).then(
        ({ status }) => status === 200,
        () => false,
      ),
    END_TIMEOUT_MS,
    `an answer to ${event}`,
  );
}

test(`builds that are killed end with the same result as others (RESTART_SEED=${seed})`, async () => {
  const good = (await call("POST", "", githubBody(host, "good", "acme/good"))) as DeploymentBody;
  const bad = (await call("POST", "", githubBody(host, "bad", "acme/bad"))) as DeploymentBody;
  const parent = (await call("POST", "", {
    ...githubBody(host, "parent", "acme/good"),
    source_config: { repo_url: host.urlOf("acme/good"), previews: true },
    secrets: PUSH_SECRETS,
  })) as DeploymentBody;
  const webhook = String(parent.source_config["webhook_url"]);
  const pushTo = (branch: string, pushedAt: number, after = sha) =>
    pushOf("acme/good", after, { ref: `refs/heads/${branch}`, pushedAt });
  const events: [payload: object, event: string][] = [
    [pushTo("kept", 10), "push"],
    [pushTo("gone", 20), "push"],
    [deletionOf("acme/good", "gone", { pushedAt: 30 }), "delete"],
    [pushTo("gone", 20), "push"],
    [pushTo("late", 40), "push"],
    // This push replaces one whose build was interrupted too often.
    [pushTo("kept", 45, next), "push"],
  ];
  for (let kill = 0; kill < KILLS; kill += 1) {
    // From time to time a new revision replaces one that was interrupted too often.
    if (kill % CRASHES === 1) {
      await call("POST", `/${good.id}/revisions`, {});
      await call("POST", `/${bad.id}/revisions`, {});
    }
    await sleep(random.between(0, MAX_DELAY_MS));
    const [payload, event] = events[kill / 2] ?? [];
    const told = payload === undefined ? undefined : deliver(webhook, payload, event);
    if (kill % CRASHES === 0) await platform.crash();
    else await platform.restart();
    await told;
  }
  await deliver(webhook, deletionOf("acme/good", "late", { pushedAt: 50 }), "delete");
  const previews = await until(
    async () => {
      const { resources } = (await call("GET", `?preview_of=${parent.id}`)) as {
        resources: DeploymentBody[];
      };
      return resources.length === 1 ? resources : null;
    },
    END_TIMEOUT_MS,
    "the deletion of the previews whose branches are gone",
  );
  await until(
    async () => {
      const latest = await Promise.all([good, bad, ...previews].map(latestOf));
      return latest.every(({ status }) => ENDED.test(status));
    },
    END_TIMEOUT_MS,
    "the end of every build",
  );
  expect(await latestOf(good)).toMatchObject({ status: "DEPLOYED", status_message: null });
  expect(previews.map(({ source_config: config }) => config["preview_branch"])).toEqual(["kept"]);
  expect(await Promise.all(previews.map(latestOf))).toMatchObject([
    { status: "DEPLOYED", source_revision_config: { repo_commit_sha: next } },
  ]);
  expect(await latestOf(bad)).toMatchObject({
    status: "BUILD_FAILED",
    status_message: expect.stringMatching(/^there is no lockfile/),
  });
});
