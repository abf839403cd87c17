import { gzipSync } from "node:zlib";
import { describe } from "vitest";
import { newDeployer } from "../support/deployments.ts";
import { testWithPlatform } from "../support/platform-server.ts";
import {
  agentClient,
  deployed,
  endedRevision,
  fixtureTarball,
  moduleTarball,
  patched,
  upload,
} from "../support/rollouts.ts";

type Told = { told: { revision: string; variable: string | null }[] };

const test = testWithPlatform()
  .extend("deployer", { scope: "file" }, ({ server }) => newDeployer(server, "plus"))
  .extend("teller", { scope: "file" }, () => fixtureTarball("deployed"));

describe("rollouts", () => {
  test("runs see the secrets of their revision, and none of the platform", async ({
    deployer,
    teller,
    expect,
  }) => {
    const { deployment, revision } = await deployed(deployer, "with-secrets", teller, {
      secrets: [{ name: "VARIABLE", value: "one" }],
    });
    expect(revision).toMatchObject({ status: "DEPLOYED", status_message: null });
    const client = agentClient(deployment, deployer.apiKey);
    const first = (await client.runs.wait(null, "teller", { input: {} })) as Told;
    expect(first.told).toEqual([
      { revision: revision.id, variable: "one" },
      { revision: revision.id, variable: "one" },
    ]);

    const second = await patched(deployer, deployment.id, {
      secrets: [{ name: "OTHER", value: "two" }],
    });
    const then = (await client.runs.wait(null, "teller", { input: {} })) as Told;
    expect(then.told[0]).toEqual({ revision: second.id, variable: null });
  });

  test("a run ends with the revision that it began with, and the next run has the new one", async ({
    deployer,
    teller,
    expect,
  }) => {
    const begun = performance.now();
    const { deployment, revision } = await deployed(deployer, "in-flight", teller);
    // The run takes far longer than the next rollout, which takes about as long as this one.
    const delay_ms = 1000 + Math.ceil(4 * (performance.now() - begun));
    const client = agentClient(deployment, deployer.apiKey);
    const { thread_id } = await client.threads.create();
    const slow = await client.runs.create(thread_id, "teller", { input: { delay_ms } });
    const queued = await client.runs.create(thread_id, "teller", { input: { delay_ms: 0 } });

    const next = await patched(deployer, deployment.id, {
      secrets: [{ name: "VARIABLE", value: "two" }],
    });
    expect(next.status).toBe("DEPLOYED");
    const running = await client.runs.list(thread_id);
    expect(running.map(({ status }) => status)).toEqual(["pending", "running"]);

    const after = await client.runs.wait(null, "teller", { input: {} });
    expect((after as Told).told[0]?.revision).toBe(next.id);
    const revisions = ({ told }: Told) => told.map((each) => each.revision);
    const told = async ({ run_id }: { run_id: string }) =>
      revisions((await client.runs.join(thread_id, run_id)) as Told);
    expect(await told(slow)).toEqual([revision.id, revision.id]);
    expect(await told(queued)).toEqual(Array.from({ length: 4 }, () => revision.id));
    const state = await client.threads.getState(thread_id);
    expect(revisions(state.values as Told)).toHaveLength(4);
  });

  test("a revision that cannot be built leaves the previous one in service", async ({
    deployer,
    teller,
    expect,
  }) => {
    const { deployment, revision } = await deployed(deployer, "broken-build", teller);
    const source_tarball_path = await upload(deployer, new Uint8Array(gzipSync("no archive")));
    const broken = await patched(deployer, deployment.id, {
      source_revision_config: { source_tarball_path },
    });
    expect(broken.status).toBe("BUILD_FAILED");
    expect(broken.status_message).toContain("not a gzipped tarball");

    const path = `/deployments/${deployment.id}/revisions/${broken.id}/build_logs`;
    const logs = await deployer.call("POST", path, { order: "asc", level: "ERROR" });
    expect(logs.body).toMatchObject({ logs: [{ message: broken.status_message, kind: "build" }] });
    const client = agentClient(deployment, deployer.apiKey);
    const { told } = (await client.runs.wait(null, "teller", { input: {} })) as Told;
    expect(told[0]?.revision).toBe(revision.id);
  });

  test.for<[string, string, string]>([
    ["throws as it loads", "throw new TypeError('of the project')", "of the project"],
    ["is not JavaScript", "this is prose", "SyntaxError"],
    ["has no graph host", "export default {}", "does not start"],
    [
      "describes itself wrongly",
      `import { WorkerEntrypoint } from "cloudflare:workers";
       export class GraphHost extends WorkerEntrypoint { describe() { return { graphs: 5, auth: null }; } }`,
      "describes itself wrongly at graphs",
    ],
    [
      "has no graphs",
      `import { WorkerEntrypoint } from "cloudflare:workers";
       export class GraphHost extends WorkerEntrypoint { describe() { return { graphs: [], auth: null }; } }`,
      "describes itself wrongly at graphs",
    ],
    [
      "has an invalid graph",
      `import { WorkerEntrypoint } from "cloudflare:workers";
       export class GraphHost extends WorkerEntrypoint {
         describe() { return { graphs: [{ graph_id: "agent", description: null }], auth: null }; }
         check() { return [{ graph_id: "agent", message: "agent is no graph" }]; }
       }`,
      "agent is no graph",
    ],
  ])(
    "a project that %s fails to deploy, with the reason",
    async ([what, code, reason], { deployer, expect }) => {
      const name = `failing-${what.replaceAll(" ", "-")}`;
      const { deployment, revision } = await deployed(deployer, name, await moduleTarball(code));
      expect(revision.status).toBe("DEPLOY_FAILED");
      expect(revision.status_message).toContain(reason);
      expect(deployment.active_revision_id).toBeNull();
      const client = agentClient(deployment, deployer.apiKey);
      await expect(client.assistants.search()).rejects.toThrow("no revision that is deployed yet");
    },
  );

  test("a redeployed revision is a rollback with the current secrets", async ({
    deployer,
    teller,
    expect,
  }) => {
    const { deployment, revision } = await deployed(deployer, "roll-back", teller, {
      secrets: [{ name: "VARIABLE", value: "first" }],
    });
    const source_tarball_path = await upload(
      deployer,
      await fixtureTarball("../../examples/agent"),
    );
    const next = await patched(deployer, deployment.id, {
      source_revision_config: { source_tarball_path },
      secrets: [{ name: "VARIABLE", value: "second" }],
    });
    expect(next.status).toBe("DEPLOYED");
    const client = agentClient(deployment, deployer.apiKey);
    await expect(client.runs.wait(null, "teller", { input: {} })).rejects.toThrow("No assistant");

    const path = `/deployments/${deployment.id}/revisions/${revision.id}/redeploy`;
    const { body } = await deployer.call("POST", path);
    const { latest_revision_id } = body as { latest_revision_id: string };
    const back = await endedRevision(deployer, deployment.id, latest_revision_id);
    expect(back.status).toBe("DEPLOYED");
    const { told } = (await client.runs.wait(null, "teller", { input: {} })) as Told;
    expect(told[0]).toEqual({ revision: back.id, variable: "second" });
  });

  test("a newer revision skips older ones that have not ended", async ({
    deployer,
    teller,
    expect,
  }) => {
    const { deployment } = await deployed(deployer, "skipping", teller);
    const change = (value: string) => ({ secrets: [{ name: "VARIABLE", value }] });
    const made = await Promise.all(
      ["a", "b", "c", "d"].map((value) => patched(deployer, deployment.id, change(value))),
    );
    const { body } = await deployer.call("GET", `/deployments/${deployment.id}`);
    const { active_revision_id, latest_revision_id } = body as Record<string, string>;
    expect(active_revision_id).toBe(latest_revision_id);
    for (const { id, status } of made) {
      expect(["DEPLOYED", "SKIPPED"]).toContain(status);
      if (id === latest_revision_id) expect(status).toBe("DEPLOYED");
    }
  });

  test("a deployment's output is in its log, and its runs are in a project with its name", async ({
    server,
    deployer,
    teller,
    expect,
  }) => {
    const { deployment, revision } = await deployed(deployer, "told", teller);
    const client = agentClient(deployment, deployer.apiKey);
    await client.runs.wait(null, "teller", { input: {} });
    const messages = async (): Promise<unknown> => {
      const { body } = await deployer.call("POST", `/deployments/${deployment.id}/deploy_logs`, {
        query: "step",
      });
      return (body as { logs: unknown[] }).logs;
    };
    await expect.poll(messages).toMatchObject([
      {
        level: "INFO",
        kind: "server",
        message: 'first step {"of":"teller"}',
        revision_id: revision.id,
      },
    ]);
    const runs = async (): Promise<unknown> => {
      const headers = { "x-api-key": deployer.apiKey };
      const sessions = await server.fetch("/api/v1/sessions?name=told&include_stats=true", {
        headers,
      });
      return sessions.json();
    };
    await expect.poll(runs).toMatchObject([{ name: "told", run_count: 1 }]);
  });
});
