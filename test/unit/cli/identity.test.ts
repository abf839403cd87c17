import { describe, test } from "vitest";
import {
  createKey,
  createWorkspace,
  ensureLocalWorkspace,
  listKeys,
  listWorkspaces,
  revokeKey,
} from "../../../cli/database/identity.ts";
import { sha256Hex } from "../../../src/lib/bytes.ts";
import { migratedDatabase } from "./support/migrated-database.ts";

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const LOCAL = { workspaceId: "0332a068-2060-45a3-a028-93bb81583853", apiKey: "tw_local" };

describe("the local workspace", () => {
  test("is created with its key, and is not changed afterwards", async ({ expect }) => {
    const database = migratedDatabase();

    await ensureLocalWorkspace(database, LOCAL);
    const before = [await listWorkspaces(database), await listKeys(database)];
    await ensureLocalWorkspace(database, LOCAL);

    expect(before).toMatchObject([
      [{ id: LOCAL.workspaceId, name: "local", plan: "enterprise" }],
      [{ workspace_id: LOCAL.workspaceId, name: "local", revoked_at: null }],
    ]);
    expect([await listWorkspaces(database), await listKeys(database)]).toEqual(before);
  });

  test("gets another key when the configured one changes", async ({ expect }) => {
    const database = migratedDatabase();
    await ensureLocalWorkspace(database, LOCAL);

    await ensureLocalWorkspace(database, { ...LOCAL, apiKey: "tw_other" });

    expect(await listKeys(database)).toHaveLength(2);
  });

  test("is not created if none is configured", async ({ expect }) => {
    const database = migratedDatabase();

    await ensureLocalWorkspace(database, { workspaceId: "", apiKey: "" });

    expect(await listWorkspaces(database)).toEqual([]);
  });
});

describe("a key", () => {
  test("belongs to the only workspace, and only its hash is stored", async ({ expect }) => {
    const database = migratedDatabase();
    const { id: workspaceId } = await createWorkspace(database, "acme", "plus");

    const created = await createKey(database, { workspaceId: undefined, name: "ci" });

    expect(created).toEqual({
      id: expect.stringMatching(UUID_V7),
      workspace_id: workspaceId,
      name: "ci",
      key: expect.stringMatching(/^tw_us_[\w-]{43}$/),
    });
    const key = String(created["key"]);
    const stored = await database.run("SELECT prefix, hash FROM api_keys");
    expect(stored).toEqual([{ prefix: expect.any(String), hash: await sha256Hex(key) }]);
    expect(key.startsWith(String(stored[0]?.["prefix"]))).toBe(true);
  });

  test("needs a named workspace if there are several", async ({ expect }) => {
    const database = migratedDatabase();
    await createWorkspace(database, "one", "plus");
    const { id } = await createWorkspace(database, "two", "developer");

    await expect(createKey(database, { workspaceId: undefined, name: "" })).rejects.toThrow(
      "there are 2 workspaces: name one with --workspace",
    );
    expect(await createKey(database, { workspaceId: String(id), name: "" })).toMatchObject({
      workspace_id: id,
    });
  });

  test.for([
    [undefined, "there is no workspace yet: create one first"],
    ["gone", "there is no workspace gone"],
  ] as const)("is refused without a workspace: %s", async ([workspaceId, problem], { expect }) => {
    await expect(createKey(migratedDatabase(), { workspaceId, name: "" })).rejects.toThrow(problem);
  });

  test("is revoked once, and keeps the first time", async ({ expect }) => {
    const database = migratedDatabase();
    await createWorkspace(database, "acme", "plus");
    const { id } = await createKey(database, { workspaceId: undefined, name: "ci" });

    const first = await revokeKey(database, String(id));
    const second = await revokeKey(database, String(id));

    expect(first["revoked_at"]).toBeTypeOf("number");
    expect(second).toEqual(first);
  });

  test("that does not exist cannot be revoked", async ({ expect }) => {
    await expect(revokeKey(migratedDatabase(), "gone")).rejects.toThrow("there is no key gone");
  });
});
