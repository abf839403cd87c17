import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { beforeAll, describe, inject, test } from "vitest";
import { rollOut } from "../../src/control-plane/deployments/rollout/roll-out.ts";
import { revisions } from "../../src/db/deployments-schema.ts";
import { newDeployment } from "./deployment-support.ts";
import { migrateIndex } from "./support.ts";

type Revision = typeof revisions.$inferSelect;

beforeAll(() => migrateIndex(inject("migrations")));

/** The tests here never get as far as the code. */
const NO_EXPORTS = {} as Cloudflare.Exports;

async function dueRevision(change: Partial<Revision>) {
  const of = await newDeployment();
  const orm = drizzle(env.DB);
  const row = () =>
    orm.select().from(revisions).where(eq(revisions.deployment_id, of.deploymentId)).get();
  const { id: revisionId = "" } = (await row()) ?? {};
  await orm.update(revisions).set(change).where(eq(revisions.id, revisionId));
  return { ref: { ...of, revisionId }, row };
}

describe("a revision whose rollout keeps being interrupted", () => {
  test.for([
    ["QUEUED", "CREATE_FAILED", ""],
    [
      "BUILDING",
      "BUILD_FAILED",
      ". If it was the build, build the project on your machine, with threadworks deploy --build local",
    ],
    ["DEPLOYING", "DEPLOY_FAILED", ""],
  ] as const)("is given up at %s, as %s", async ([status, failed, advice], { expect }) => {
    const { ref, row } = await dueRevision({ status, attempts: 8, lease: "of a dead process" });
    expect(await rollOut(env, NO_EXPORTS, ref)).toBe(null);
    expect(await row()).toMatchObject({
      status: failed,
      status_message: `Given up after 8 attempts: each was interrupted${advice}`,
      due_at: null,
      lease: null,
    });
  });

  test("is tried once more before that", async ({ expect }) => {
    const { ref, row } = await dueRevision({ status: "CREATING", attempts: 7 });
    expect(await rollOut(env, NO_EXPORTS, ref)).toBe(null);
    expect(await row()).toMatchObject({ status: "QUEUED", attempts: 8, due_at: null });
  });
});
