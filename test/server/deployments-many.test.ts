import { describe } from "vitest";
import { type DeploymentBody, newDeployer, sourceBody } from "../support/deployments.ts";
import { mapLimited } from "../../src/lib/map-limited.ts";
import { testWithPlatform } from "../support/platform-server.ts";
import { agentClient, endedRevision, fixtureTarball, upload } from "../support/rollouts.ts";

const DEPLOYMENTS = 100;
const AT_ONCE = 4;

const test = testWithPlatform().extend("deployer", { scope: "file" }, ({ server }) =>
  newDeployer(server, "enterprise"),
);

describe("one installation", () => {
  test(
    `serves ${DEPLOYMENTS} deployments, each with its own environment`,
    { timeout: 300_000 },
    async ({ deployer, expect }) => {
      const path = await upload(deployer, await fixtureTarball("deployed"));
      const numbers = Array.from({ length: DEPLOYMENTS }, (_, number) => String(number));
      const told = await mapLimited(numbers, AT_ONCE, async (number) => {
        const secrets = [{ name: "VARIABLE", value: number }];
        const body = sourceBody(`number-${number}`, path, { secrets });
        const created = await deployer.call("POST", "/deployments", body);
        const { id, latest_revision_id } = created.body as DeploymentBody;
        const { status } = await endedRevision(deployer, id, latest_revision_id);
        expect(status).toBe("DEPLOYED");
        const { body: deployment } = await deployer.call("GET", `/deployments/${id}`);
        const client = agentClient(deployment as DeploymentBody, deployer.apiKey);
        const values = await client.runs.wait(null, "teller", { input: {} });
        return (values as { told: { variable: string }[] }).told[0]?.variable;
      });
      expect(told).toEqual(numbers);
    },
  );
});
