import { describe } from "vitest";
import {
  createDeployment,
  type DeploymentBody,
  type Deployer,
  endRevision,
  newDeployer,
  type RevisionBody,
  revisionsOf,
  sourceBody,
  templateBody,
  uploaded,
} from "../support/deployments.ts";
import { testWithServer } from "../support/server.ts";
import { MISSING_ID } from "../support/uuid.ts";

const test = testWithServer({}, "project", { rollouts: false }).extend(
  "deployer",
  { scope: "file" },
  ({ server }) => newDeployer(server),
);

const SKIPPED = { status: "SKIPPED", status_message: "There is a newer revision" };

let made = 0;

function newName(): string {
  made += 1;
  return `deployment-${made}`;
}

async function patch(deployer: Deployer, id: string, body: object): Promise<DeploymentBody> {
  const answer = await deployer.call("PATCH", `/deployments/${id}`, body);
  if (answer.status !== 200) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body as DeploymentBody;
}

describe("a change", () => {
  test.for([
    ["nothing", {}],
    ["only nulls", { secrets: null, source_config: null, source_revision_config: null }],
    ["a display name", { display_name: "Ours" }],
    ["no secrets", { secrets: [] }],
    ["the current values", { source_config: { template_id: "agent", deployment_type: "dev" } }],
    ["its source", { revision_source: "internal_template" }],
    ["an empty configuration", { source_revision_config: { source_tarball_path: null } }],
  ] as const)("of %s makes no revision", async ([, change], { deployer, expect }) => {
    const config = { template_id: "agent", deployment_type: "dev" };
    const secrets = [{ name: "A", value: "1" }];
    const given = templateBody(newName(), { source_config: config, secrets });
    const created = await createDeployment(deployer, given);
    const changed = await patch(deployer, created.id, change);
    const { display_name = null } = change as { display_name?: string };
    expect(changed).toEqual({ ...created, display_name, updated_at: expect.any(String) });
    expect(await revisionsOf(deployer, created.id)).toHaveLength(1);
  });

  test("of the tarball makes a revision, and skips the one before", async ({
    deployer,
    expect,
  }) => {
    const created = await createDeployment(deployer, sourceBody(newName(), null));
    const path = await uploaded(deployer);
    const config = { source_tarball_path: path, langgraph_config_path: "./langgraph.json" };
    const changed = await patch(deployer, created.id, {
      revision_source: "internal_source",
      source_revision_config: config,
      display_name: "Ours",
    });
    expect(changed.latest_revision_id).not.toBe(created.latest_revision_id);
    expect(changed).toMatchObject({
      display_name: "Ours",
      source_revision_config: config,
      active_revision_id: null,
    });
    expect(await revisionsOf(deployer, created.id)).toMatchObject([
      { id: changed.latest_revision_id, status: "CREATING", status_message: null },
      { id: created.latest_revision_id, ...SKIPPED },
    ]);
  });

  test("leaves ended and serving revisions alone", async ({ server, deployer, expect }) => {
    const created = await createDeployment(deployer, templateBody(newName()));
    const first = created.latest_revision_id;
    await endRevision(server, first, "DEPLOYED");
    const sql = "UPDATE deployments SET active_revision_id = ? WHERE id = ?";
    await server.database.run(sql, [first, created.id]);
    const changed = await patch(deployer, created.id, { secrets: [{ name: "A", value: "1" }] });
    expect(changed.active_revision_id).toBe(first);
    expect(await revisionsOf(deployer, created.id)).toMatchObject([
      { status: "CREATING" },
      { id: first, status: "DEPLOYED", status_message: null },
    ]);
  });

  test("of one secret keeps those that are named without a value", async ({
    server,
    deployer,
    expect,
  }) => {
    const before = [
      { name: "KEPT", value: "1" },
      { name: "CHANGED", value: "2" },
      { name: "REMOVED", value: "3" },
    ];
    const created = await createDeployment(deployer, templateBody(newName(), { secrets: before }));
    const sealedOf = async (revision: string): Promise<Record<string, string>> => {
      const sql = "SELECT secrets FROM revisions WHERE id = ?";
      const [row] = await server.database.run(sql, [revision]);
      return JSON.parse(String(row?.["secrets"]));
    };
    const secrets = [{ name: "KEPT" }, { name: "CHANGED", value: "4" }];
    const changed = await patch(deployer, created.id, { secrets });
    const [old, now] = await Promise.all(
      [created, changed].map((each) => sealedOf(each.latest_revision_id)),
    );
    expect(now).toEqual({ KEPT: old?.["KEPT"], CHANGED: expect.any(String) });
    expect(now?.["CHANGED"]).not.toBe(old?.["CHANGED"]);

    const unknown = { secrets: [{ name: "KEPT", value: null }, { name: "REMOVED" }] };
    const path = `/deployments/${created.id}`;
    expect(await deployer.call("PATCH", path, unknown)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "secrets", 1, "value"], type: "missing" }] },
    });
    const bare = templateBody(newName(), { secrets: [{ name: "KEPT" }] });
    expect((await deployer.call("POST", "/deployments", bare)).status).toBe(422);
  });

  test("of the secrets replaces all of them, and keeps the source", async ({
    server,
    deployer,
    expect,
  }) => {
    const path = await uploaded(deployer);
    const created = await createDeployment(
      deployer,
      sourceBody(newName(), path, { secrets: [{ name: "OLD", value: "1" }] }),
    );
    const changed = await patch(deployer, created.id, {
      secrets: [
        { name: "NEW", value: "a secret value" },
        { name: "_x1", value: "" },
      ],
    });
    expect(changed.secrets.map(({ name }) => name)).toEqual(["NEW", "_x1"]);
    expect(changed.source_revision_config).toEqual(created.source_revision_config);
    const rows = await server.database.run("SELECT secrets FROM revisions WHERE id = ?", [
      changed.latest_revision_id,
    ]);
    const [stored] = rows as { secrets: string }[];
    expect(JSON.parse(stored?.secrets ?? "")).toEqual({
      NEW: expect.stringMatching(/^1\.[\w-]+$/),
      _x1: expect.stringMatching(/^1\.[\w-]+$/),
    });
    expect(stored?.secrets).not.toContain("a secret value");
  });

  test("can switch from the template to a project, and back", async ({ deployer, expect }) => {
    const created = await createDeployment(deployer, templateBody(newName()));
    const path = await uploaded(deployer);
    const own = await patch(deployer, created.id, {
      revision_source: "internal_source",
      source_revision_config: { source_tarball_path: path },
    });
    expect(own.source_revision_config).toMatchObject({ source_tarball_path: path });
    // The source of the latest revision is kept, not that of the first one.
    const next = await patch(deployer, created.id, { secrets: [{ name: "A", value: "1" }] });
    expect(next.source_revision_config).toMatchObject({ source_tarball_path: path });
    const back = await deployer.call("POST", `/deployments/${created.id}/revisions`, {
      revision_source: "internal_template",
    });
    expect([back.status, back.body]).toMatchObject([
      201,
      { source: "internal_template", source_revision_config: { source_tarball_path: null } },
    ]);
  });

  test("is applied one after the other when several are concurrent", async ({
    deployer,
    expect,
  }) => {
    const created = await createDeployment(deployer, templateBody(newName()));
    const answers = await Promise.all(
      ["A", "B", "C"].map((name) =>
        deployer.call("POST", `/deployments/${created.id}/revisions`, {
          secrets: [{ name, value: "1" }],
        }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    const revisions = await revisionsOf(deployer, created.id);
    expect(revisions.map(({ status }) => status)).toEqual([
      "CREATING",
      "SKIPPED",
      "SKIPPED",
      "SKIPPED",
    ]);
    const ids = answers.map(({ body }) => (body as RevisionBody).id);
    expect(revisions.slice(0, 3).map(({ id }) => id)).toEqual(ids.toSorted().toReversed());
    const read = await deployer.call("GET", `/deployments/${created.id}`);
    expect(read.body).toMatchObject({ latest_revision_id: revisions[0]?.id });
  });
});

describe("a revision", () => {
  test("can be made without a change", async ({ deployer, expect }) => {
    const created = await createDeployment(deployer, templateBody(newName()));
    const path = `/deployments/${created.id}/revisions`;
    const answer = await deployer.call("POST", path, {});
    const revision = answer.body as RevisionBody;
    expect([answer.status, revision.status]).toEqual([201, "CREATING"]);
    expect(revision.id).not.toBe(created.latest_revision_id);
  });

  test("is deployed again with the current secrets", async ({ server, deployer, expect }) => {
    const paths = [await uploaded(deployer, "one"), await uploaded(deployer, "two")] as const;
    const created = await createDeployment(deployer, sourceBody(newName(), paths[0]));
    await endRevision(server, created.latest_revision_id, "DEPLOYED");
    await patch(deployer, created.id, {
      source_revision_config: { source_tarball_path: paths[1] },
      secrets: [{ name: "NEW", value: "1" }],
    });
    const old = `/deployments/${created.id}/revisions/${created.latest_revision_id}`;
    const answer = await deployer.call("POST", `${old}/redeploy`);
    expect([answer.status, answer.body]).toMatchObject([
      200,
      {
        id: created.id,
        source_revision_config: { source_tarball_path: paths[0] },
        secrets: [{ name: "NEW" }],
      },
    ]);
    const [latest, skipped, first] = await revisionsOf(deployer, created.id);
    expect(latest?.id).toBe((answer.body as DeploymentBody).latest_revision_id);
    expect([latest?.status, skipped?.status, first?.status]).toEqual([
      "CREATING",
      "SKIPPED",
      "DEPLOYED",
    ]);
  });

  test("cannot be deployed again if it had nothing to deploy", async ({ deployer, expect }) => {
    const created = await createDeployment(deployer, sourceBody(newName(), null));
    const { id, latest_revision_id: revision } = created;
    const answer = await deployer.call("POST", `/deployments/${id}/revisions/${revision}/redeploy`);
    expect([answer.status, answer.body]).toEqual([
      400,
      { detail: `Revision ID ${revision} has nothing to deploy.` },
    ]);
  });

  test("is interrupted once, and only while its rollout is under way", async ({
    deployer,
    expect,
  }) => {
    const created = await createDeployment(deployer, templateBody(newName()));
    const { latest_revision_id: id } = created;
    const path = `/deployments/${created.id}/revisions/${id}`;
    const answer = await deployer.call("POST", `${path}/interrupt`);
    expect([answer.status, answer.body]).toMatchObject([
      200,
      { id, status: "INTERRUPTED", status_message: "Interrupted by a request" },
    ]);
    const again = await deployer.call("POST", `${path}/interrupt`);
    expect([again.status, again.body]).toEqual([
      409,
      { detail: `Revision ID ${id} has ended: it is INTERRUPTED.` },
    ]);
  });

  test("is not found in another deployment", async ({ deployer, expect }) => {
    const one = await createDeployment(deployer, templateBody(newName()));
    const { id, latest_revision_id: other } = await createDeployment(
      deployer,
      templateBody(newName()),
    );
    for (const [deployment, revision, text] of [
      [one.id, other, `Revision ID ${other} not found.`],
      [id, MISSING_ID, `Revision ID ${MISSING_ID} not found.`],
      [MISSING_ID, other, `Deployment ID ${MISSING_ID} not found.`],
    ] as const) {
      const path = `/deployments/${deployment}/revisions/${revision}`;
      for (const [method, more] of [
        ["GET", ""],
        ["POST", "/redeploy"],
        ["POST", "/interrupt"],
      ] as const) {
        const { status, body } = await deployer.call(method, `${path}${more}`);
        expect([status, body]).toEqual([404, { detail: text }]);
      }
    }
  });
});

describe("the list of revisions", () => {
  test("has pages and a filter by status", async ({ server, deployer, expect }) => {
    const created = await createDeployment(deployer, templateBody(newName()));
    const path = `/deployments/${created.id}/revisions`;
    await endRevision(server, created.latest_revision_id, "BUILD_FAILED");
    for (let count = 0; count < 3; count += 1) await deployer.call("POST", path, {});
    const all = await revisionsOf(deployer, created.id);
    const page = async (query: string) => {
      const { body } = await deployer.call("GET", `${path}?${query}`);
      const { resources, offset } = body as { resources: RevisionBody[]; offset: number };
      return [resources.map(({ id }) => all.findIndex((each) => each.id === id)), offset];
    };
    expect(await page("limit=3")).toEqual([[0, 1, 2], 3]);
    expect(await page("limit=3&offset=3")).toEqual([[3], 4]);
    expect(await page("limit=3&offset=4")).toEqual([[], 4]);
    expect(await page("status=SKIPPED")).toEqual([[1, 2], 2]);
    expect(await page("status=BUILD_FAILED,CREATING")).toEqual([[0, 3], 2]);
    expect(await page("status=UNKNOWN")).toEqual([[], 0]);
  });

  test.for([
    ["status=FAILED", "status", "enum"],
    ["status=", "status", "enum"],
    ["limit=0", "limit", "greater_than_equal"],
    ["limit=101", "limit", "less_than_equal"],
    ["offset=-1", "offset", "greater_than_equal"],
    ["remote_reconciled=true", "remote_reconciled", "value_error"],
  ] as const)("is refused with %s", async ([query, field, type], { deployer, expect }) => {
    const path = `/deployments/${MISSING_ID}/revisions?${query}`;
    const { status, body } = await deployer.call("GET", path);
    expect([status, body]).toMatchObject([422, { detail: [{ loc: ["query", field], type }] }]);
  });
});
