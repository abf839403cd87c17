import { env } from "cloudflare:workers";
import { beforeAll, describe, inject, test } from "vitest";
import { countPreviews, endPreview, findPreview } from "../../src/db/previews-repo.ts";
import {
  markDeleted,
  newDeployment,
  newPreview,
  type TestDeployment,
} from "./deployment-support.ts";
import { migrateIndex } from "./support.ts";

beforeAll(() => migrateIndex(inject("migrations")));

/** Ends a preview like the deletion of its branch. */
function end(of: TestDeployment, branch: string, deletedAt: number): Promise<string | undefined> {
  const config = { ended_previews: { [branch]: deletedAt } };
  return endPreview(env.DB, of, { branch, deletedAt, config, now: Date.now() });
}

describe("a preview is created", () => {
  test("once for a branch, whatever was read before", async ({ expect }) => {
    const of = await newDeployment();
    const first = await newPreview(of, { branch: "next", pushedAt: 10 });
    expect(await newPreview(of, { branch: "next", pushedAt: 20 })).toBeNull();
    expect(await newPreview(of, { branch: "other", pushedAt: 20 })).not.toBeNull();
    expect(await findPreview(env.DB, of, "next")).toBe(first?.deploymentId);
    const another = await newDeployment({ workspaceId: of.workspaceId });
    expect(await newPreview(another, { branch: "next", pushedAt: 10 })).not.toBeNull();
  });

  test("as long as there is room", async ({ expect }) => {
    const of = await newDeployment();
    for (const branch of ["a", "b"]) await newPreview(of, { branch, pushedAt: 1, most: 2 });
    expect(await newPreview(of, { branch: "c", pushedAt: 1, most: 2 })).toBeNull();
    expect(await countPreviews(env.DB, of)).toBe(2);
    await end(of, "a", 2);
    expect(await newPreview(of, { branch: "c", pushedAt: 1, most: 2 })).not.toBeNull();
  });

  test("for a deployment in service only", async ({ expect }) => {
    const of = await newDeployment();
    await markDeleted(of);
    expect(await newPreview(of, { branch: "next", pushedAt: 1 })).toBeNull();
    const foreign = { ...(await newDeployment()), workspaceId: crypto.randomUUID() };
    expect(await newPreview(foreign, { branch: "next", pushedAt: 1 })).toBeNull();
  });

  test("only by a push after the last deletion of its branch", async ({ expect }) => {
    const of = await newDeployment();
    expect(await end(of, "next", 20)).toBeUndefined();
    expect(await newPreview(of, { branch: "next", pushedAt: 20 })).toBeNull();
    expect(await newPreview(of, { branch: "other", pushedAt: 20 })).not.toBeNull();
    const made = await newPreview(of, { branch: "next", pushedAt: 21 });
    expect(await end(of, "next", 20)).toBeUndefined();
    expect(await findPreview(env.DB, of, "next")).toBe(made?.deploymentId);
    expect(await end(of, "next", 21)).toBe(made?.deploymentId);
    expect(await findPreview(env.DB, of, "next")).toBeUndefined();
  });
});
