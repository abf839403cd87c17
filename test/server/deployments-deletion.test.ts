import { describe } from "vitest";
import {
  createDeployment,
  newDeployer,
  revisionsOf,
  sourceBody,
  templateBody,
} from "../support/deployments.ts";
import { testWithServer } from "../support/server.ts";
import { MISSING_ID } from "../support/uuid.ts";

const test = testWithServer({}, "project", { rollouts: false }).extend("deployer", ({ server }) =>
  newDeployer(server),
);

describe("a deleted deployment", () => {
  test("is out of service, and is listed until its data is deleted", async ({
    server,
    deployer,
    expect,
  }) => {
    const created = await createDeployment(deployer, templateBody("mine"));
    const sql = "UPDATE deployments SET active_revision_id = latest_revision_id WHERE id = ?";
    await server.database.run(sql, [created.id]);
    const deleted = await deployer.call("DELETE", `/deployments/${created.id}`);
    expect([deleted.status, deleted.body]).toEqual([204, ""]);
    const read = await deployer.call("GET", `/deployments/${created.id}`);
    expect([read.status, read.body]).toEqual([
      200,
      { ...created, status: "AWAITING_DELETE", updated_at: expect.any(String) },
    ]);
    expect(await revisionsOf(deployer, created.id)).toMatchObject([
      { status: "SKIPPED", status_message: "The deployment was deleted" },
    ]);
    expect((await deployer.call("DELETE", `/deployments/${created.id}`)).status).toBe(204);
  });

  test("accepts no changes, and keeps its name meanwhile", async ({ deployer, expect }) => {
    const { id, latest_revision_id } = await createDeployment(deployer, sourceBody("mine", null));
    await deployer.call("DELETE", `/deployments/${id}?delete_tracing_project=true`);
    const conflict = { detail: `Deployment ID ${id} is being deleted.` };
    for (const [method, path, body] of [
      ["PATCH", `/deployments/${id}`, { display_name: "x" }],
      ["PATCH", `/deployments/${id}`, { secrets: [{ name: "A", value: "1" }] }],
      ["POST", `/deployments/${id}/revisions`, {}],
      ["POST", `/deployments/${id}/upload-url`, undefined],
    ] as const) {
      const answer = await deployer.call(method, path, body);
      expect([path, answer.status, answer.body]).toEqual([path, 409, conflict]);
    }
    const path = `/deployments/${id}/revisions/${latest_revision_id}/interrupt`;
    expect((await deployer.call("POST", path)).status).toBe(409);
    const again = await deployer.call("POST", "/deployments", sourceBody("mine", null));
    expect([again.status, again.body]).toEqual([
      409,
      { detail: "The workspace has a deployment named 'mine' already, which is being deleted" },
    ]);
  });

  test("was listed before", async ({ deployer, expect }) => {
    const missing = await deployer.call("DELETE", `/deployments/${MISSING_ID}`);
    expect([missing.status, missing.body]).toEqual([
      404,
      { detail: `Deployment ID ${MISSING_ID} not found.` },
    ]);
    const query = "delete_tracing_project=maybe&force=true";
    const { status, body } = await deployer.call("DELETE", `/deployments/${MISSING_ID}?${query}`);
    const loc = ["query", "delete_tracing_project"];
    expect([status, body]).toMatchObject([422, { detail: [{ loc, type: "bool_parsing" }] }]);
  });
});

test("a name is unique in a workspace", async ({ server, deployer, expect }) => {
  await createDeployment(deployer, templateBody("mine"));
  const again = await deployer.call("POST", "/deployments", templateBody("mine"));
  expect([again.status, again.body]).toEqual([
    409,
    { detail: "The workspace has a deployment named 'mine' already" },
  ]);
  await createDeployment(await newDeployer(server), templateBody("mine"));
  const both = await Promise.all(
    [1, 2].map(() => deployer.call("POST", "/deployments", templateBody("theirs"))),
  );
  expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409]);
});

describe("deleting several deployments", () => {
  test("reports for each whether it existed", async ({ deployer, expect }) => {
    const made = [];
    for (const name of ["a", "b", "c"]) {
      made.push((await createDeployment(deployer, templateBody(name))).id);
    }
    const [a = "", b = "", c = ""] = made;
    const some = await deployer.call("DELETE", `/deployments?deployment_ids=${a},${MISSING_ID}`);
    const failure = {
      deployment_id: MISSING_ID,
      detail: `Deployment ID ${MISSING_ID} not found.`,
    };
    expect([some.status, some.body]).toEqual([207, { deleted: [a], failed: [failure] }]);
    const query = `deployment_ids=${b}&deployment_ids=${c}`;
    const all = await deployer.call("DELETE", `/deployments?${query}`);
    expect([all.status, all.body]).toEqual([200, { deleted: [b, c], failed: [] }]);
    const listed = await deployer.call("GET", "/deployments?status=AWAITING_DELETE");
    expect(listed.body).toMatchObject({ offset: 3 });
    const none = await deployer.call("DELETE", `/deployments?deployment_ids=${MISSING_ID}`);
    expect([none.status, none.body]).toEqual([404, { detail: failure.detail }]);
  });

  test.for([
    ["", "deployment_ids", "missing"],
    ["?deployment_ids=x", "deployment_ids", "uuid_parsing"],
  ] as const)("is refused with %o", async ([query, field, type], { deployer, expect }) => {
    const { status, body } = await deployer.call("DELETE", `/deployments${query}`);
    expect([status, body]).toMatchObject([
      422,
      { detail: [{ loc: ["query", field], type: expect.stringContaining(type) }] },
    ]);
  });
});
