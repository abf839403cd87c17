import { describe } from "vitest";
import {
  createDeployment,
  type DeploymentBody,
  newDeployer,
  sourceBody,
  templateBody,
  uploaded,
} from "../support/deployments.ts";
import { send } from "../support/http.ts";
import { testWithServer } from "../support/server.ts";
import { ISO_TIME, UUID } from "../support/uuid.ts";

const test = testWithServer({}, "project", { rollouts: false }).extend("deployer", ({ server }) =>
  newDeployer(server),
);

/** A server with a host for each surface, which is reached at the host of the control plane. */
const hosted = testWithServer(
  { CONTROL_PLANE_HOST: "127.0.0.1", AGENTS_DOMAIN: "agents.example" },
  "project",
  { rollouts: false },
).extend("deployer", ({ server }) => newDeployer(server));

const MASK = "**********";

describe("a deployment", () => {
  test("is created from a template, with a first revision", async ({
    server,
    deployer,
    expect,
  }) => {
    const given = templateBody("My_Agent", {
      source_config: { template_id: "agent", deployment_type: "dev" },
      secrets: [{ name: "MODEL_KEY", value: "sk-1" }],
    });
    const created = await deployer.call("POST", "/deployments", given);
    const time = expect.stringMatching(ISO_TIME);
    const deployment = {
      id: expect.stringMatching(UUID),
      name: "My_Agent",
      display_name: null,
      source: "internal_template",
      source_config: {
        deployment_type: "dev",
        template_id: "agent",
        custom_url: `${server.url}/deployments/my-agent`,
        integration_id: null,
        repo_url: null,
        build_on_push: null,
        previews: null,
        preview_of: null,
        preview_branch: null,
        webhook_url: null,
        resource_spec: null,
        listener_id: null,
        listener_config: null,
        install_command: null,
        build_command: null,
      },
      source_revision_config: {
        source_tarball_path: null,
        langgraph_config_path: null,
        repo_ref: null,
        repo_commit_sha: null,
        image_uri: null,
      },
      secrets: [{ name: "MODEL_KEY", value: MASK }],
      secret_references: null,
      tenant_id: deployer.id,
      status: "READY",
      latest_revision_id: expect.stringMatching(UUID),
      active_revision_id: null,
      image_version: null,
      created_at: time,
      updated_at: time,
    };
    expect([created.status, created.body]).toEqual([201, deployment]);
    const { id, latest_revision_id: revisionId } = created.body as DeploymentBody;
    const read = await deployer.call("GET", `/deployments/${id}`);
    expect([read.status, read.body]).toEqual([200, created.body]);
    const revision = await deployer.call("GET", `/deployments/${id}/revisions/${revisionId}`);
    expect([revision.status, revision.body]).toEqual([
      200,
      {
        id: revisionId,
        status: "CREATING",
        status_message: null,
        source: "internal_template",
        source_revision_config: deployment.source_revision_config,
        created_at: time,
        updated_at: time,
      },
    ]);
  });

  hosted("has its own host if a domain for agents is configured", async ({ deployer, expect }) => {
    const created = await createDeployment(deployer, templateBody("My_Agent"));
    expect(created.source_config["custom_url"]).toBe("https://my-agent.agents.example");
  });

  test("is created from a tarball", async ({ deployer, expect }) => {
    const path = await uploaded(deployer);
    const config = { source_tarball_path: path, langgraph_config_path: "app/langgraph.json" };
    const created = await createDeployment(
      deployer,
      sourceBody("source", null, { source_revision_config: config }),
    );
    expect(created.source_revision_config).toMatchObject(config);
    expect(created).toMatchObject({ source: "internal_source", secrets: [] });
  });

  test("gets a tracing project with its name", async ({ server, deployer, expect }) => {
    await createDeployment(deployer, templateBody("traced"));
    const headers = { "x-api-key": deployer.apiKey };
    const { body } = await send(server, "GET", "/api/v1/sessions", undefined, headers);
    expect(body).toMatchObject([{ name: "traced" }]);
  });
});
