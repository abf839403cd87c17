import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "@langchain/langgraph-sdk";
import type { PlatformProcess } from "../../restart/support/platform-process.ts";
import { until } from "../../restart/support/until.ts";
import { type DeploymentBody, type RevisionBody, templateBody } from "../../support/deployments.ts";
import { acknowledgedBy, callTo, type Workload } from "./workload.ts";

const DEPLOYMENTS = 2;
const PAUSE_MS = 1500;
const END_TIMEOUT_MS = 300_000;
const ENDED = /^(DEPLOYED|SKIPPED|CREATE_FAILED|BUILD_FAILED|DEPLOY_FAILED|INTERRUPTED)$/;

/** Makes new revisions of a few deployments: each ends, the newest one serves, and none fails. */
export async function rollouts(platform: PlatformProcess): Promise<Workload> {
  const call = callTo(platform);
  const acknowledged = new Set<string>();
  const ids: string[] = [];
  for (let index = 0; index < DEPLOYMENTS; index += 1) {
    const created = await call("POST", "/v2/deployments", templateBody(`verified-${index}`));
    ids.push((created as DeploymentBody).id);
  }

  async function revisionsOf(id: string): Promise<RevisionBody[]> {
    const page = await call("GET", `/v2/deployments/${id}/revisions?limit=100`);
    return (page as { resources: RevisionBody[] }).resources;
  }

  return {
    name: "rollouts",
    acknowledged: () => acknowledged.size,
    run: async (signal) => {
      for (let index = 0; !signal.aborted; index += 1) {
        const secrets = [{ name: "NUMBER", value: String(index) }];
        const patched = await acknowledgedBy(
          () => call("PATCH", `/v2/deployments/${ids[index % DEPLOYMENTS]}`, { secrets }),
          signal,
        );
        if (patched !== null) acknowledged.add((patched as DeploymentBody).latest_revision_id);
        await sleep(PAUSE_MS);
      }
    },
    check: async (problems) => {
      const found = new Set<string>();
      for (const id of ids) {
        const revisions = await until(
          async () => {
            const all = await revisionsOf(id);
            return all.every(({ status }) => ENDED.test(status)) && all;
          },
          END_TIMEOUT_MS,
          `the end of the rollouts of ${id}`,
        );
        for (const revision of revisions) {
          found.add(revision.id);
          if (/^(DEPLOYED|SKIPPED)$/.test(revision.status)) continue;
          problems.add("revision", `a revision is ${revision.status}: ${revision.status_message}`);
        }
        const deployment = (await call("GET", `/v2/deployments/${id}`)) as DeploymentBody;
        if (deployment.active_revision_id !== revisions[0]?.id) {
          problems.add("active", `deployment ${id} does not serve its newest revision`);
        }
        const apiUrl = String(deployment.source_config["custom_url"]);
        const client = new Client({ apiUrl, apiKey: platform.apiKey });
        const thread = await client.threads.create();
        await client.runs.wait(thread.thread_id, "agent", {
          input: { messages: [{ role: "user", content: "What is 2 + 2?" }] },
        });
      }
      const lost = [...acknowledged].filter((id) => !found.has(id));
      if (lost.length > 0) problems.add("lost", `not there: revisions ${lost.join(", ")}`);
    },
  };
}
