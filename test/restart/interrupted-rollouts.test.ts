import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "@langchain/langgraph-sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { templateBody, type DeploymentBody } from "../support/deployments.ts";
import type { RevisionBody } from "../support/rollouts.ts";
import { callDeployments, ENDED } from "./support/call-deployments.ts";
import { PlatformProcess } from "./support/platform-process.ts";
import { chooseSeed, Random } from "./support/random.ts";
import { until } from "./support/until.ts";

const ROLLOUTS = 20;
const DEPLOYMENTS = 4;
/** Longer than a rollout takes on a machine that is not busy. */
const MAX_DELAY_MS = 900;
/** One in this many kills ends workerd alone, which the server restarts by itself. */
const CRASHES = 4;
const END_TIMEOUT_MS = 300_000;

const seed = chooseSeed();
const random = new Random(seed);
let platform: PlatformProcess;

beforeAll(async () => {
  platform = await PlatformProcess.start();
});
afterAll(() => platform.dispose());

const call = (method: string, path: string, body?: unknown): Promise<unknown> =>
  callDeployments(platform, method, path, body);

async function revisionsOf(id: string): Promise<RevisionBody[]> {
  const { resources } = (await call("GET", `/${id}/revisions?limit=100`)) as {
    resources: RevisionBody[];
  };
  return resources;
}

test(`rollouts that are killed come to an end, and one revision serves (RESTART_SEED=${seed})`, async () => {
  const ids: string[] = [];
  for (let index = 0; index < DEPLOYMENTS; index += 1) {
    const created = await call("POST", "", templateBody(`killed-${index}`));
    ids.push((created as DeploymentBody).id);
  }
  const acknowledged = new Set<string>();
  for (let index = DEPLOYMENTS; index < ROLLOUTS; index += 1) {
    const id = ids[index % DEPLOYMENTS] ?? "";
    const secrets = [{ name: "NUMBER", value: String(index) }];
    const patched = (await call("PATCH", `/${id}`, { secrets })) as DeploymentBody;
    acknowledged.add(patched.latest_revision_id);
    await sleep(random.between(0, MAX_DELAY_MS));
    if (index % CRASHES === 0) await platform.crash();
    else await platform.restart();
  }

  const endedBy = Date.now() + END_TIMEOUT_MS;
  for (const id of ids) {
    await until(
      async () => (await revisionsOf(id)).every(({ status }) => ENDED.test(status)),
      endedBy - Date.now(),
      "the end of every rollout",
    );
    const revisions = await revisionsOf(id);
    for (const { id: revision } of revisions) acknowledged.delete(revision);
    const { active_revision_id, latest_revision_id } = (await call(
      "GET",
      `/${id}`,
    )) as DeploymentBody;
    const statuses = revisions.map(({ status, status_message }) => ({ status, status_message }));
    expect(statuses[0]).toEqual({
      status: "DEPLOYED",
      status_message: null,
    });
    expect(active_revision_id).toBe(latest_revision_id);
    expect(revisions[0]?.id).toBe(latest_revision_id);

    const { source_config } = (await call("GET", `/${id}`)) as DeploymentBody;
    const client = new Client({
      apiUrl: String(source_config["custom_url"]),
      apiKey: platform.apiKey,
      callerOptions: { maxRetries: 0 },
    });
    const input = { messages: [{ role: "user", content: "What is 20 + 22?" }] };
    expect(JSON.stringify(await client.runs.wait(null, "agent", { input }))).toContain("42");
  }
  expect([...acknowledged]).toEqual([]);
});
