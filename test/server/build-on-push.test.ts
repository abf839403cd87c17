import { Client } from "@langchain/langgraph-sdk";
import { describe } from "vitest";
import {
  createDeployment,
  type DeploymentBody,
  type Deployer,
  newDeployer,
  templateBody,
} from "../support/deployments.ts";
import type { GitHost } from "../support/git-host.ts";
import {
  pushOf,
  PUSH_SECRET_VALUE,
  PUSH_SECRETS,
  sendEvent,
  signatureOf,
} from "../support/github-webhook.ts";
import {
  BUILDS,
  ended,
  githubBody,
  rolledOut,
  speakingFiles,
  testWithRepositories as test,
} from "../support/repository-builds.ts";
import type { TestServer } from "../support/server.ts";

const MISSING_ID = "00000000-0000-4000-8000-000000000000";
const [FIRST, SECOND, THIRD] = ["a", "b", "c"].map((digit) => digit.repeat(40)) as [
  string,
  string,
  string,
];
const SECRET_FIELD = "THREADWORKS_GITHUB_WEBHOOK_SECRET";

type Revision = { id: string; source_revision_config: Record<string, unknown> };

/** Returns the commits of a deployment's revisions, newest first; null for a revision that was not made by a push. */
async function commitsOf({ call }: Deployer, id: string): Promise<unknown[]> {
  const { body } = await call("GET", `/deployments/${id}/revisions`);
  const { resources } = body as { resources: Revision[] };
  return resources.map(({ source_revision_config: config }) => config["repo_commit_sha"]);
}

function pushBody(
  host: GitHost,
  name: string,
  repository: string,
  {
    ref = null as string | null,
    ...change
  }: Record<string, unknown> & { ref?: string | null } = {},
): Record<string, unknown> {
  const body = githubBody(host, name, repository, { revision: { repo_ref: ref } });
  const config = { repo_url: host.urlOf(repository), build_on_push: true };
  return { ...body, source_config: config, secrets: PUSH_SECRETS, ...change };
}

/** Creates a deployment of a repository that the Git host does not have, so that its rollouts end at once. */
async function pushedDeployment(
  server: TestServer,
  host: GitHost,
  { ref = null }: { ref?: string | null } = {},
): Promise<{ deployer: Deployer; id: string; url: string; deployment: DeploymentBody }> {
  const deployer = await newDeployer(server);
  const deployment = await createDeployment(deployer, pushBody(host, "mine", "acme/none", { ref }));
  const url = String(deployment.source_config["webhook_url"]);
  await ended(deployer, deployment);
  return { deployer, id: deployment.id, url, deployment };
}

describe("a push", () => {
  test(
    "to the branch is built and serves, and its code does not see the secret",
    BUILDS,
    async ({ server, host, registry, expect }) => {
      const webhookSecrets = `Object.keys(process.env).filter((name) => name.includes("WEBHOOK"))`;
      const saying = (words: string) =>
        speakingFiles(registry, `${JSON.stringify(words)} + ${webhookSecrets}`);
      const repository = "acme/pushed";
      const first = host.push(repository, await saying("one:"));
      const deployer = await newDeployer(server);
      const made = await rolledOut(deployer, pushBody(host, "pushed", repository));
      expect(made.revision).toMatchObject({ status: "DEPLOYED", status_message: null });
      expect(made.deployment.source_config).toMatchObject({
        build_on_push: true,
        webhook_url: `${server.url}/v2/deployments/${made.deployment.id}/github-webhook`,
      });
      const url = String(made.deployment.source_config["webhook_url"]);
      const second = host.push(repository, await saying("two:"));
      const answer = await sendEvent(url, pushOf(repository, second));
      const { revision_id: id } = answer.body as { revision_id: string };
      expect(answer).toEqual({
        status: 200,
        body: { revision_id: id, message: `Commit ${second} is rolled out` },
      });
      expect(await ended(deployer, { ...made.deployment, latest_revision_id: id })).toMatchObject({
        id,
        status: "DEPLOYED",
        source_revision_config: { repo_commit_sha: second },
      });
      expect(await commitsOf(deployer, made.deployment.id)).toEqual([second, first]);
      const client = new Client({
        apiUrl: String(made.deployment.source_config["custom_url"]),
        apiKey: deployer.apiKey,
      });
      const values = (await client.runs.wait(null, "agent", { input: { messages: [] } })) as {
        messages: { content: string }[];
      };
      expect(values.messages.map(({ content }) => content)).toEqual(["two:"]);
    },
  );

  test("makes one revision, however often and in whatever order it is delivered", async ({
    server,
    host,
    expect,
  }) => {
    const { deployer, id, url } = await pushedDeployment(server, host);
    const push = pushOf("acme/none", FIRST, { pushedAt: 10 });
    const together = await Promise.all([1, 2, 3, 4].map(() => sendEvent(url, push)));
    expect(together.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const ids = together.map(({ body }) => (body as { revision_id: string }).revision_id);
    expect(new Set(ids).size).toBe(1);
    expect(await commitsOf(deployer, id)).toEqual([FIRST, null]);

    await sendEvent(url, pushOf("acme/none", SECOND, { pushedAt: 20 }));
    const late = await sendEvent(url, push);
    expect(late.body).toMatchObject({ message: expect.stringMatching(/^The deployment has/) });
    await sendEvent(url, pushOf("acme/none", THIRD, { pushedAt: 15 }));
    expect(await commitsOf(deployer, id)).toEqual([SECOND, FIRST, null]);

    // The branch goes back to the first commit, and a revision is made by hand: the push is still the same one.
    await sendEvent(url, pushOf("acme/none", FIRST, { pushedAt: 30 }));
    await deployer.call("POST", `/deployments/${id}/revisions`, {});
    await sendEvent(url, pushOf("acme/none", FIRST, { pushedAt: 30 }));
    expect(await commitsOf(deployer, id)).toEqual([null, FIRST, SECOND, FIRST, null]);
  });

  test.for([
    [{ ref: "refs/heads/other" }, null, "only pushes to refs/heads/main are built"],
    [{ ref: "refs/tags/main" }, null, "only pushes to refs/heads/main are built"],
    [{ ref: "refs/heads/main" }, "next", "only pushes to refs/heads/next are built"],
    [{ ref: "refs/heads/next", deleted: true }, "refs/heads/next", "the branch was deleted"],
  ] as const)("is ignored: %j of %s", async ([change, ref, reason], { server, host, expect }) => {
    const { deployer, id, url } = await pushedDeployment(server, host, { ref });
    const after = "deleted" in change ? "0".repeat(40) : FIRST;
    const { status, body } = await sendEvent(url, pushOf("acme/none", after, change));
    expect([status, body]).toEqual([200, { revision_id: null, message: `Ignored: ${reason}` }]);
    expect(await commitsOf(deployer, id)).toEqual([null]);
  });

  test("is ignored for another repository, or after build on push was switched off", async ({
    server,
    host,
    expect,
  }) => {
    const { deployer, id, url } = await pushedDeployment(server, host);
    const messageOf = async (repository: string): Promise<unknown> =>
      (await sendEvent(url, pushOf(repository, FIRST))).body;
    expect(await messageOf("acme/others")).toEqual({
      revision_id: null,
      message: "Ignored: the repository is acme/none",
    });
    const off = { source_config: { build_on_push: false } };
    const { body } = await deployer.call("PATCH", `/deployments/${id}`, off);
    expect((body as DeploymentBody).source_config).toMatchObject({
      build_on_push: false,
      webhook_url: null,
    });
    expect(await messageOf("acme/none")).toEqual({
      revision_id: null,
      message: "Ignored: the deployment does not build on push",
    });
    expect(await commitsOf(deployer, id)).toEqual([null]);
    const on = { source_config: { build_on_push: true } };
    expect((await deployer.call("PATCH", `/deployments/${id}`, on)).status).toBe(200);
    expect(await messageOf("ACME/None")).toMatchObject({
      message: `Commit ${FIRST} is rolled out`,
    });
    expect(await commitsOf(deployer, id)).toEqual([FIRST, null]);
  });

  test("may be JSON or a form, and a ping and other events are answered", async ({
    server,
    host,
    expect,
  }) => {
    const { deployer, id, url } = await pushedDeployment(server, host);
    for (const [event, message] of [
      ["ping", "The deployment listens to pushes"],
      ["issues", "Ignored: only pushes are listened to"],
    ] as const) {
      const { status, body } = await sendEvent(url, { zen: "Keep it simple" }, { event });
      expect([status, body]).toEqual([200, { revision_id: null, message }]);
    }
    const form = await sendEvent(url, pushOf("acme/none", FIRST), { form: true });
    expect(form.body).toMatchObject({ message: `Commit ${FIRST} is rolled out` });
    expect(await commitsOf(deployer, id)).toEqual([FIRST, null]);
  });
});

describe("an event is refused", () => {
  test("in the same way for a wrong signature, no signature and a missing deployment", async ({
    server,
    host,
    expect,
  }) => {
    const { deployer, id, url } = await pushedDeployment(server, host);
    const bare = await createDeployment(deployer, templateBody("bare"));
    const gone = await createDeployment(deployer, pushBody(host, "gone", "acme/none"));
    await deployer.call("DELETE", `/deployments/${gone.id}`);
    const push = pushOf("acme/none", FIRST);
    const right = signatureOf(PUSH_SECRET_VALUE, JSON.stringify(push));
    const answers = await Promise.all([
      sendEvent(url, push, { secret: "some other secret of somebody" }),
      sendEvent(url, push, { signature: null }),
      sendEvent(url, push, { signature: "sha256=" }),
      sendEvent(url, push, { signature: right.replace("sha256=", "") }),
      sendEvent(url, push, { signature: right.replace("sha256=", "sha1=") }),
      sendEvent(url, push, { signature: right.slice(0, -2) }),
      sendEvent(url, `${JSON.stringify(push)} `, { signature: right }),
      sendEvent(url.replace(id, MISSING_ID), push),
      sendEvent(url.replace(id, bare.id), push),
      sendEvent(url.replace(id, gone.id), push),
    ]);
    const refused = {
      status: 401,
      body: { detail: "X-Hub-Signature-256 is not a signature by the secret of such a deployment" },
    };
    expect(answers).toEqual(answers.map(() => refused));
    expect(await commitsOf(deployer, id)).toEqual([null]);
    expect((await sendEvent(url, push, { signature: right })).status).toBe(200);
  });

  test("by the name of the invalid field", async ({ server, host, expect }) => {
    const { url } = await pushedDeployment(server, host);
    const { repository, ...rest } = pushOf("acme/none", FIRST);
    const fieldsOf = async (payload: object): Promise<unknown> => {
      const { status, body } = await sendEvent(url, payload);
      return [status, (body as { detail: { loc: unknown }[] }).detail.map(({ loc }) => loc)];
    };
    expect(await fieldsOf({ ...rest, repository, after: "x" })).toEqual([422, [["body", "after"]]]);
    expect(await fieldsOf(rest)).toEqual([422, [["body", "repository"]]]);
    const { pushed_at: _, ...undated } = repository;
    expect(await fieldsOf({ ...rest, repository: undated })).toEqual([
      422,
      [["body", "repository", "pushed_at"]],
    ]);
    expect((await sendEvent(url, "no JSON")).status).toBe(422);
    expect((await sendEvent(url, "", { form: true })).status).toBe(422);
    expect((await sendEvent(url, " ".repeat(6 * 1024 * 1024))).status).toBe(413);
  });
});

describe("building on push is refused", () => {
  test.for([
    ["without a secret", { secrets: [] }, ["body", "secrets"]],
    [
      "with a short secret",
      { secrets: [{ name: SECRET_FIELD, value: "short" }] },
      ["body", "secrets", 0, "value"],
    ],
    ["of a tag", { ref: "refs/tags/v1" }, ["body", "source_config", "build_on_push"]],
    ["of a commit", { ref: FIRST }, ["body", "source_config", "build_on_push"]],
    [
      "of a template",
      templateBody("mine", {
        source_config: { template_id: "agent", build_on_push: true },
        secrets: PUSH_SECRETS,
      }),
      ["body", "source_config", "build_on_push"],
    ],
  ] as const)("%s", async ([, change, loc], { server, host, expect }) => {
    const deployer = await newDeployer(server);
    const body = pushBody(host, "mine", "acme/none", change);
    const answer = await deployer.call("POST", "/deployments", body);
    expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc }] } });
  });

  test("when a change removes what it needs", async ({ server, host, expect }) => {
    const { deployer, id } = await pushedDeployment(server, host);
    const patch = (body: object) => deployer.call("PATCH", `/deployments/${id}`, body);
    const other = [{ name: "OTHER", value: "x" }];
    expect(await patch({ secrets: other })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "secrets"] }] },
    });
    expect(await patch({ source_revision_config: { repo_ref: "tags/v1" } })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "source_config", "build_on_push"] }] },
    });
    const off = { secrets: other, source_config: { build_on_push: false } };
    expect((await patch(off)).status).toBe(200);
    expect((await patch({ source_config: { build_on_push: true } })).status).toBe(422);
  });
});
