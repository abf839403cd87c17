import { describe, test } from "vitest";
import {
  createKey,
  createWorkspace,
  ensureLocalWorkspace,
  listWorkspaces,
  setWorkspacePlan,
} from "../../../cli/database/identity.ts";
import {
  addPrivateEndpoint,
  listPrivateEndpoints,
  removePrivateEndpoint,
} from "../../../cli/database/private-endpoints.ts";
import { migratedDatabase } from "./support/migrated-database.ts";

const NONE = { privateOnly: false, networks: [] };

/** Returns the databases of both regions, as the command line opens them. */
function regions() {
  const us = migratedDatabase("us");
  return { us, eu: { ...migratedDatabase("eu"), billing: us } };
}

describe("a plan", () => {
  test("is stored in the US region only, for workspaces of all regions", async ({ expect }) => {
    const { us, eu } = regions();
    const [american, european] = [
      await createWorkspace(us, "american", "plus"),
      await createWorkspace(eu, "european", "enterprise"),
    ];

    expect(await us.run("SELECT workspace_id, region, plan FROM billing_plans")).toEqual([
      { workspace_id: american["id"], region: "us", plan: "plus" },
      { workspace_id: european["id"], region: "eu", plan: "enterprise" },
    ]);
    expect(await eu.run("SELECT * FROM billing_plans")).toEqual([]);
    expect(await listWorkspaces(us)).toMatchObject([{ name: "american", plan: "plus" }]);
    expect(await listWorkspaces(eu)).toMatchObject([{ name: "european", plan: "enterprise" }]);
  });

  test("can be changed", async ({ expect }) => {
    const { eu } = regions();
    const { id } = await createWorkspace(eu, "acme", "developer");

    expect(await setWorkspacePlan(eu, String(id), "plus")).toMatchObject({ id, plan: "plus" });
    expect(await listWorkspaces(eu)).toMatchObject([{ id, plan: "plus" }]);
    await expect(setWorkspacePlan(eu, "gone", "plus")).rejects.toThrow(
      "there is no workspace gone",
    );
  });

  test("cannot be sold by a region that cannot reach the US region", async ({ expect }) => {
    const alone = migratedDatabase("eu");
    await expect(createWorkspace(alone, "acme", "plus")).rejects.toThrow("--billing-state");
    expect(await listWorkspaces(alone)).toEqual([]);

    const { id } = await createWorkspace(alone, "acme", "developer");
    expect(await listWorkspaces(alone)).toMatchObject([{ id, plan: null }]);
    await expect(addPrivateEndpoint(alone, String(id), NONE)).rejects.toThrow("--billing-state");
  });

  test("of the local workspace is not reset after a change", async ({ expect }) => {
    const { us } = regions();
    const local = { workspaceId: "0332a068-2060-45a3-a028-93bb81583853", apiKey: "" };
    await ensureLocalWorkspace(us, local);
    await setWorkspacePlan(us, local.workspaceId, "developer");
    await ensureLocalWorkspace(us, local);
    expect(await listWorkspaces(us)).toMatchObject([{ plan: "developer" }]);
  });
});

test("a key contains its region", async ({ expect }) => {
  const { eu } = regions();
  await createWorkspace(eu, "acme", "developer");
  const { key } = await createKey(eu, { workspaceId: undefined, name: "ci" });
  expect(key).toMatch(/^tw_eu_[\w-]{43}$/);
});

describe("a private endpoint", () => {
  test("is added, changed, listed and removed", async ({ expect }) => {
    const { eu } = regions();
    const { id } = await createWorkspace(eu, "acme", "enterprise");
    const workspaceId = String(id);
    const row = { workspace_id: workspaceId, created_at: expect.any(Number) };

    expect(await addPrivateEndpoint(eu, workspaceId, NONE)).toEqual({
      ...row,
      private_only: false,
      networks: [],
    });
    const changed = { privateOnly: true, networks: ["192.0.2.0/24", "2001:db8::/32"] };
    await addPrivateEndpoint(eu, workspaceId, changed);
    const stored = { ...row, private_only: true, networks: changed.networks };
    expect(await listPrivateEndpoints(eu)).toEqual([stored]);
    expect(await removePrivateEndpoint(eu, workspaceId)).toEqual(stored);
    expect(await listPrivateEndpoints(eu)).toEqual([]);
    await expect(removePrivateEndpoint(eu, workspaceId)).rejects.toThrow("is not enrolled");
  });

  test("needs the plan enterprise and at least one network", async ({ expect }) => {
    const { us } = regions();
    const [plus, enterprise] = [
      await createWorkspace(us, "plus", "plus"),
      await createWorkspace(us, "enterprise", "enterprise"),
    ];
    await expect(addPrivateEndpoint(us, String(plus["id"]), NONE)).rejects.toThrow("has plus");
    await expect(addPrivateEndpoint(us, "gone", NONE)).rejects.toThrow("no workspace gone");
    const networks = ["192.0.2.0"];
    await expect(
      addPrivateEndpoint(us, String(enterprise["id"]), { privateOnly: false, networks }),
    ).rejects.toThrow("--network 192.0.2.0 is not a range");
    expect(await listPrivateEndpoints(us)).toEqual([]);
  });
});
