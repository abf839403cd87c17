import { describe } from "vitest";
import { newDeployer } from "../support/deployments.ts";
import { testWithPlatform } from "../support/platform-server.ts";
import { agentClient, deployed, fixtureTarball, patched } from "../support/rollouts.ts";

const STREAMS = 50;
const STEP_MS = 200;

type Values = { told: { revision: string }[] };
type Streamed = { startedAt: number; revisions: string[] };

const test = testWithPlatform()
  .extend("deployer", { scope: "file" }, ({ server }) => newDeployer(server, "plus"))
  .extend("teller", { scope: "file" }, () => fixtureTarball("deployed"));

describe("a rollout under load", () => {
  test(
    `fails none of ${STREAMS} concurrent streams, and each stream is of one revision`,
    { timeout: 300_000 },
    async ({ deployer, teller, expect }) => {
      const { deployment, revision } = await deployed(deployer, "busy", teller);
      const client = agentClient(deployment, deployer.apiKey);
      const streamed: Streamed[] = [];
      const load = { ending: false };
      const stream = async (): Promise<void> => {
        const startedAt = Date.now();
        const { thread_id } = await client.threads.create();
        const input = { delay_ms: STEP_MS };
        let values: Values = { told: [] };
        for await (const { event, data } of client.runs.stream(thread_id, "teller", {
          input,
          streamMode: "values",
        })) {
          expect(event).not.toBe("error");
          if (event === "values") values = data as Values;
        }
        streamed.push({ startedAt, revisions: values.told.map((each) => each.revision) });
      };
      const streaming = Array.from({ length: STREAMS }, async () => {
        while (!load.ending) await stream();
      });
      const failed = Promise.all(streaming);
      failed.catch(() => undefined);

      await expect.poll(() => streamed.length).toBeGreaterThan(STREAMS);
      const next = await patched(deployer, deployment.id, {
        secrets: [{ name: "VARIABLE", value: "two" }],
      });
      const deployedAt = Date.now();
      expect(next.status).toBe("DEPLOYED");
      const before = streamed.length;
      await expect.poll(() => streamed.length).toBeGreaterThan(before + 2 * STREAMS);
      load.ending = true;
      await failed;

      for (const { startedAt, revisions } of streamed) {
        expect(revisions).toHaveLength(2);
        expect(revisions[0]).toBe(revisions[1]);
        expect([revision.id, next.id]).toContain(revisions[0]);
        if (startedAt > deployedAt) expect(revisions[0]).toBe(next.id);
      }
      expect(new Set(streamed.map(({ revisions }) => revisions[0])).size).toBe(2);
    },
  );
});
