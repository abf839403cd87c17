import { Client } from "@langchain/langgraph-sdk";
import { describe, vi } from "vitest";
import {
  createDeployment,
  type DeploymentBody,
  type Deployer,
  newDeployer,
  templateBody,
} from "../support/deployments.ts";
import type { GitHost } from "../support/git-host.ts";
import { deletionOf, pushOf, PUSH_SECRETS, sendEvent } from "../support/github-webhook.ts";
import {
  BUILDS,
  ended,
  githubBody,
  rolledOut,
  speakingFiles,
  testWithRepositories as test,
} from "../support/repository-builds.ts";
import type { TestServer } from "../support/server.ts";

const commit = (digit: string): string => digit.repeat(40);
const [FIRST, SECOND, THIRD] = [commit("a"), commit("b"), commit("c")];
const NONE = "acme/none";
const GONE = { timeout: 150_000, interval: 100 };

function previewBody(
  host: GitHost,
  name: string,
  repository: string,
  change: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    ...githubBody(host, name, repository),
    source_config: { repo_url: host.urlOf(repository), previews: true },
    secrets: [...PUSH_SECRETS, { name: "MODEL_KEY", value: "of the parent" }],
    ...change,
  };
}

type Parent = { deployer: Deployer; id: string; url: string };

/** Creates a deployment of a repository that the Git host does not have, so that its rollouts end at once. */
async function newParent(server: TestServer, host: GitHost, name = "mine"): Promise<Parent> {
  const deployer = await newDeployer(server);
  const deployment = await createDeployment(deployer, previewBody(host, name, NONE));
  await ended(deployer, deployment);
  return { deployer, id: deployment.id, url: String(deployment.source_config["webhook_url"]) };
}

async function previewsOf({ deployer, id }: Parent): Promise<DeploymentBody[]> {
  const { status, body } = await deployer.call("GET", `/deployments?preview_of=${id}&limit=100`);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return (body as { resources: DeploymentBody[] }).resources;
}

/** Returns the branches of the previews in service. */
async function branchesOf(parent: Parent): Promise<string[]> {
  const previews = await previewsOf(parent);
  return previews
    .filter(({ status }) => status === "READY")
    .map(({ source_config: config }) => String(config["preview_branch"]))
    .toSorted();
}

const pushTo = (branch: string, after: string, pushedAt: number, deleted = false) =>
  pushOf(NONE, after, { ref: `refs/heads/${branch}`, pushedAt, deleted });

async function messageOf(url: string, payload: object, event = "push"): Promise<unknown> {
  const { status, body } = await sendEvent(url, payload, { event });
  return [status, (body as { message: string }).message];
}

describe("a push to another branch", () => {
  test(
    "makes a preview with its own URL and state and its deployment's secrets, which is deleted with the branch",
    BUILDS,
    async ({ server, host, registry, expect }) => {
      const saying = (words: string) =>
        speakingFiles(registry, `${JSON.stringify(words)} + process.env.MODEL_KEY`);
      const repository = "acme/previewed";
      const deployed = host.push(repository, await saying("deployed "));
      const deployer = await newDeployer(server);
      const made = await rolledOut(deployer, previewBody(host, "shop", repository));
      expect(made.revision).toMatchObject({ status: "DEPLOYED" });
      const parent = { deployer, id: made.deployment.id };
      const url = String(made.deployment.source_config["webhook_url"]);
      const answerOf = async (deployment: DeploymentBody): Promise<unknown> => {
        const apiUrl = String(deployment.source_config["custom_url"]);
        const client = new Client({ apiUrl, apiKey: deployer.apiKey });
        const { thread_id } = await client.threads.create();
        const values = await client.runs.wait(thread_id, "agent", { input: { messages: [] } });
        const { messages } = values as { messages: { content: string }[] };
        return messages.map(({ content }) => content);
      };

      const sha = host.push(repository, await saying("branch "), { branch: "feature/login" });
      const push = pushOf(repository, sha, { ref: "refs/heads/feature/login" });
      const answer = await sendEvent(url, push);
      const { revision_id } = answer.body as { revision_id: string };
      expect(answer).toEqual({
        status: 200,
        body: {
          revision_id,
          message: `Commit ${sha} is rolled out as the preview shop-feature-login`,
        },
      });
      const [preview] = await previewsOf({ ...parent, url });
      if (preview === undefined) throw new Error("There is no preview");
      expect(await ended(deployer, preview)).toMatchObject({
        id: revision_id,
        status: "DEPLOYED",
        source_revision_config: { repo_ref: "feature/login", repo_commit_sha: sha },
      });
      expect(preview).toMatchObject({
        name: "shop-feature-login",
        secrets: [{ name: "MODEL_KEY" }],
        source_config: {
          repo_url: host.urlOf(repository),
          preview_of: parent.id,
          preview_branch: "feature/login",
          build_on_push: false,
          webhook_url: null,
          custom_url: `${server.url}/deployments/shop-feature-login`,
        },
      });
      expect(await answerOf(preview)).toEqual(["branch of the parent"]);
      expect(await answerOf(made.deployment)).toEqual(["deployed of the parent"]);
      const { body: now } = await deployer.call("GET", `/deployments/${parent.id}`);
      expect(now).toMatchObject({
        latest_revision_id: made.revision.id,
        source_revision_config: { repo_commit_sha: deployed },
      });

      const gone = deletionOf(repository, "feature/login");
      expect(await messageOf(url, gone, "delete")).toEqual([
        200,
        "The preview of feature/login is deleted with its branch",
      ]);
      await vi.waitFor(async () => {
        const { status } = await deployer.call("GET", `/deployments/${preview.id}`);
        expect(status).toBe(404);
      }, GONE);
      const projects = await fetch(`${server.url}/api/v1/sessions?name=shop-feature-login`, {
        headers: { "x-api-key": deployer.apiKey },
      });
      expect(await projects.json()).toEqual([]);
      expect(await answerOf(made.deployment)).toEqual(["deployed of the parent"]);
    },
  );

  test("makes one preview, and a revision for each push, in whatever order they are delivered", async ({
    server,
    host,
    expect,
  }) => {
    const parent = await newParent(server, host);
    const { deployer, url } = parent;
    // The names of its previews are random, so none can conflict with an existing name.
    const branch = "功能";
    const first = pushTo(branch, FIRST, 10);
    const together = await Promise.all([1, 2, 3, 4].map(() => sendEvent(url, first)));
    expect(together.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const ids = together.map(({ body }) => (body as { revision_id: string }).revision_id);
    expect(new Set(ids).size).toBe(1);
    await sendEvent(url, pushTo(branch, SECOND, 30));
    await sendEvent(url, pushTo(branch, THIRD, 20));
    await sendEvent(url, first);
    const [preview, ...others] = await previewsOf(parent);
    expect(others).toEqual([]);
    const { body } = await deployer.call("GET", `/deployments/${preview?.id}/revisions`);
    const { resources } = body as { resources: DeploymentBody[] };
    expect(resources.map((revision) => revision.source_revision_config)).toMatchObject([
      { repo_commit_sha: SECOND },
      { repo_commit_sha: FIRST },
    ]);
  });

  test("uses the current secrets of its deployment", async ({ server, host, expect }) => {
    const parent = await newParent(server, host);
    const { deployer, id, url } = parent;
    await sendEvent(url, pushTo("next", FIRST, 10));
    await deployer.call("PATCH", `/deployments/${id}`, {
      secrets: [...PUSH_SECRETS, { name: "OTHER_KEY", value: "x" }],
    });
    await sendEvent(url, pushTo("next", SECOND, 20));
    expect((await previewsOf(parent))[0]?.secrets.map(({ name }) => name)).toEqual(["OTHER_KEY"]);
    await deployer.call("PATCH", `/deployments/${id}`, { secrets: PUSH_SECRETS });
    await sendEvent(url, pushTo("next", THIRD, 30));
    expect((await previewsOf(parent))[0]?.secrets).toEqual([]);
  });

  test("gives the preview a unique name, also if another one has it or no character of the branch is left", async ({
    server,
    host,
    expect,
  }) => {
    const parent = await newParent(server, host);
    await createDeployment(parent.deployer, templateBody("mine-fix-it"));
    for (const [at, branch] of ["fix/it", "feature/a", "feature-a", "功能", "Übung"].entries()) {
      const { status } = await sendEvent(parent.url, pushTo(branch, commit(`${at}`), at));
      expect(status).toBe(200);
    }
    const previews = await previewsOf(parent);
    const names = previews.map(({ name, source_config }) => [
      source_config["preview_branch"],
      name,
    ]);
    expect(Object.fromEntries(names)).toEqual({
      "fix/it": expect.stringMatching(/^mine-fix-it-[0-9a-f]{8}$/),
      "feature/a": "mine-feature-a",
      "feature-a": expect.stringMatching(/^mine-feature-a-[0-9a-f]{8}$/),
      功能: expect.stringMatching(/^mine-[0-9a-f]{8}$/),
      Übung: "mine-bung",
    });
    const urls = previews.map(({ source_config }) => source_config["custom_url"]);
    expect(new Set(urls).size).toBe(5);
  });

  test("is ignored if there are ten previews, for a tag, and if previews are switched off", async ({
    server,
    host,
    expect,
  }) => {
    const parent = await newParent(server, host);
    const { deployer, id, url } = parent;
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) => messageOf(url, pushTo(`b${n}`, FIRST, 10 + n))),
    );
    const refused = "Ignored: the deployment has 10 previews, the most there may be";
    expect(
      answers.filter((answer) => JSON.stringify(answer) === JSON.stringify([200, refused])),
    ).toHaveLength(2);
    expect(await branchesOf(parent)).toHaveLength(10);
    expect(await messageOf(url, pushOf(NONE, FIRST, { ref: "refs/tags/v1" }))).toEqual([
      200,
      "Ignored: the deployment does not build on push",
    ]);
    const off = { source_config: { previews: false } };
    const { body } = await deployer.call("PATCH", `/deployments/${id}`, off);
    expect((body as DeploymentBody).source_config).toMatchObject({
      previews: false,
      webhook_url: null,
    });
    const [branch = ""] = await branchesOf(parent);
    expect(await messageOf(url, pushTo(branch, SECOND, 50))).toEqual([
      200,
      "Ignored: the deployment does not build on push",
    ]);
    // The existing previews are still deleted with their branches.
    expect(await messageOf(url, deletionOf(NONE, branch), "delete")).toEqual([
      200,
      `The preview of ${branch} is deleted with its branch`,
    ]);
  });
});

describe("the deletion of a branch", () => {
  test("deletes its preview once, whichever event reports it, and whatever arrives late", async ({
    server,
    host,
    expect,
  }) => {
    const parent = await newParent(server, host);
    const { url } = parent;
    const push = pushTo("next", FIRST, 10);
    await sendEvent(url, push);
    await sendEvent(url, pushTo("other", FIRST, 11));
    const deletion = pushTo("next", commit("0"), 20, true);
    expect(await messageOf(url, deletionOf(NONE, "other", { pushedAt: 5 }), "delete")).toEqual([
      200,
      "Ignored: the branch was deleted",
    ]);
    expect(await branchesOf(parent)).toEqual(["next", "other"]);
    const told = await Promise.all([
      messageOf(url, deletion),
      messageOf(url, deletionOf(NONE, "next", { pushedAt: 20 }), "delete"),
    ]);
    expect(new Set(told.map(String))).toEqual(
      new Set([
        "200,Ignored: the branch was deleted",
        "200,The preview of next is deleted with its branch",
      ]),
    );
    // GitHub may deliver any event again.
    expect(await messageOf(url, push)).toEqual([200, "Ignored: the branch was deleted"]);
    expect(await branchesOf(parent)).toEqual(["other"]);
    await sendEvent(url, pushTo("next", SECOND, 30));
    expect(await messageOf(url, deletion)).toEqual([200, "Ignored: the branch was deleted"]);
    expect(await branchesOf(parent)).toEqual(["next", "other"]);
    const tag = deletionOf(NONE, "next", { type: "tag" });
    expect(await messageOf(url, tag, "delete")).toEqual([
      200,
      "Ignored: the deleted ref is not a branch",
    ]);
    const foreign = deletionOf("acme/others", "next");
    expect(await messageOf(url, foreign, "delete")).toEqual([
      200,
      "Ignored: the repository is acme/none",
    ]);
    expect(await branchesOf(parent)).toEqual(["next", "other"]);
    expect((await sendEvent(url, { ref: "next" }, { event: "delete" })).status).toBe(422);
  });

  test("works for branches named like an object's built-in members", async ({
    server,
    host,
    expect,
  }) => {
    const parent = await newParent(server, host);
    for (const branch of ["constructor", "__proto__", 'quo"te']) {
      await sendEvent(parent.url, pushTo(branch, FIRST, 10));
      expect(await branchesOf(parent)).toEqual([branch]);
      await sendEvent(parent.url, deletionOf(NONE, branch, { pushedAt: 20 }), { event: "delete" });
      await sendEvent(parent.url, pushTo(branch, FIRST, 10));
      expect(await branchesOf(parent)).toEqual([]);
      await sendEvent(parent.url, pushTo(branch, FIRST, 30));
      expect(await branchesOf(parent)).toEqual([branch]);
      await sendEvent(parent.url, deletionOf(NONE, branch, { pushedAt: 40 }), { event: "delete" });
    }
  });
});

test("previews are deleted with their deployment", async ({ server, host, expect }) => {
  const parent = await newParent(server, host);
  const { deployer, id, url } = parent;
  await sendEvent(url, pushTo("next", FIRST, 10));
  await sendEvent(url, pushTo("other", FIRST, 11));
  const ids = [id, ...(await previewsOf(parent)).map((preview) => preview.id)];
  expect(ids).toHaveLength(3);
  expect((await deployer.call("DELETE", `/deployments/${id}`)).status).toBe(204);
  await vi.waitFor(async () => {
    const found = await Promise.all(
      ids.map((each) => deployer.call("GET", `/deployments/${each}`)),
    );
    expect(found.map(({ status }) => status)).toEqual([404, 404, 404]);
  }, GONE);
});

describe("previews are refused", () => {
  test.for([
    ["without a secret", { secrets: [] }, ["body", "secrets"]],
    [
      "of a template",
      templateBody("mine", {
        source_config: { template_id: "agent", previews: true },
        secrets: PUSH_SECRETS,
      }),
      ["body", "source_config", "previews"],
    ],
  ] as const)("%s", async ([, change, loc], { server, host, expect }) => {
    const deployer = await newDeployer(server);
    const answer = await deployer.call(
      "POST",
      "/deployments",
      previewBody(host, "mine", NONE, change),
    );
    expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc }] } });
  });

  test("for a preview, and for a change that removes their secret", async ({
    server,
    host,
    expect,
  }) => {
    const parent = await newParent(server, host);
    const { deployer, id, url } = parent;
    await sendEvent(url, pushTo("next", FIRST, 10));
    const [preview] = await previewsOf(parent);
    for (const field of ["previews", "build_on_push"]) {
      const body = { source_config: { [field]: true }, secrets: PUSH_SECRETS };
      expect(await deployer.call("PATCH", `/deployments/${preview?.id}`, body)).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ["body", "source_config", field] }] },
      });
    }
    const secrets = [{ name: "OTHER", value: "x" }];
    expect(await deployer.call("PATCH", `/deployments/${id}`, { secrets })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "secrets"] }] },
    });
  });
});
