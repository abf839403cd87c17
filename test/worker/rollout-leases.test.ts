import { env } from "cloudflare:workers";
import { and, eq } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { beforeAll, describe, inject, test } from "vitest";
import { deployments, revisions } from "../../src/db/deployments-schema.ts";
import { selectDeployment } from "../../src/db/deployments-repo.ts";
import { interruptRevision, type RevisionRow } from "../../src/db/revisions-repo.ts";
import {
  activateRevision,
  moveRevision,
  ROLLOUT_WORK,
  settleRevision,
} from "../../src/db/rollouts-repo.ts";
import { type HeldRow, releaseLease, renewLease, takeLease } from "../../src/db/leases-repo.ts";
import type { RevisionRef } from "../../src/lib/revision-ref.ts";
import { markDeleted, newDeployment, newRevision } from "./deployment-support.ts";
import { migrateIndex } from "./support.ts";

beforeAll(() => migrateIndex(inject("migrations")));

const NOW = 1000;
const UNTIL = 2000;

type RolloutLease = HeldRow<RevisionRef>;

function claimRevision(
  held: RolloutLease,
  time: { now: number; until: number },
): Promise<RevisionRow | undefined> {
  return takeLease(env.DB, ROLLOUT_WORK, held, time);
}

/** Creates a deployment whose only revision one worker has claimed. */
async function claimed(): Promise<RolloutLease> {
  const of = await newDeployment();
  const found = await selectDeployment(env.DB, of);
  return claim({ ...of, revisionId: found?.revision.id ?? "" }, "first");
}

async function claim(ref: Omit<RolloutLease, "lease">, lease: string, now = NOW) {
  const held = { ...ref, lease };
  const row = await claimRevision(held, { now, until: now + UNTIL - NOW });
  if (row === undefined) throw new Error("The revision was not claimed");
  return held;
}

/** Returns for each operation of a worker whether it still has an effect. */
async function effects(lease: RolloutLease): Promise<boolean[]> {
  return [
    await renewLease(env.DB, ROLLOUT_WORK, lease, 1),
    await releaseLease(env.DB, ROLLOUT_WORK, lease, { dueAt: 1, now: NOW }),
    await moveRevision(env.DB, lease, { status: "DEPLOYING", now: NOW }),
    await settleRevision(env.DB, lease, { status: "DEPLOY_FAILED", message: null, now: NOW }),
    await activateRevision(env.DB, lease, { graphs: "[]", now: NOW }),
  ];
}

const NONE = [false, false, false, false, false];

async function stateOf({ workspaceId, deploymentId, revisionId }: RolloutLease) {
  const orm = drizzle(env.DB);
  const deployment = await orm
    .select()
    .from(deployments)
    .where(and(eq(deployments.workspace_id, workspaceId), eq(deployments.id, deploymentId)))
    .get();
  const revision = await orm.select().from(revisions).where(eq(revisions.id, revisionId)).get();
  return {
    active: deployment?.active_revision_id,
    status: revision?.status,
    due: revision?.due_at,
  };
}

describe("a worker that lost its revision has no effect any more", () => {
  test("to a newer revision, also if that serves already", async ({ expect }) => {
    const slow = await claimed();
    const newer = { ...slow, revisionId: await newRevision(slow) };
    expect(await effects(slow)).toEqual(NONE);
    const active = await claim(newer, "second");
    expect(await activateRevision(env.DB, active, { graphs: "[]", now: NOW })).toBe(true);
    expect(await effects(slow)).toEqual(NONE);
    expect(await stateOf(slow)).toEqual({
      active: newer.revisionId,
      status: "SKIPPED",
      due: null,
    });
    expect(await stateOf(newer as RolloutLease)).toMatchObject({ status: "DEPLOYED", due: null });
  });

  test("to an interruption", async ({ expect }) => {
    const slow = await claimed();
    await interruptRevision(env.DB, slow, slow.revisionId, NOW);
    expect(await effects(slow)).toEqual(NONE);
    expect(await stateOf(slow)).toEqual({ active: null, status: "INTERRUPTED", due: null });
    expect(await claimRevision(slow, { now: NOW, until: UNTIL })).toBeUndefined();
  });

  test("to the deletion of the deployment", async ({ expect }) => {
    const slow = await claimed();
    await markDeleted(slow);
    expect(await effects(slow)).toEqual(NONE);
    expect(await stateOf(slow)).toEqual({ active: null, status: "SKIPPED", due: null });
  });

  test("to another worker, after its lease has expired", async ({ expect }) => {
    const slow = await claimed();
    const other = { ...slow, lease: "second" };
    const early = { now: UNTIL - 1, until: UNTIL };
    expect(await claimRevision(other, early)).toBeUndefined();
    expect(await claim(slow, "second", UNTIL)).toEqual(other);
    expect(await effects(slow)).toEqual(NONE);
    expect(await activateRevision(env.DB, other, { graphs: "[]", now: NOW })).toBe(true);
    expect(await effects(slow)).toEqual(NONE);
    expect(await stateOf(slow)).toMatchObject({ active: slow.revisionId, status: "DEPLOYED" });
  });

  test("to another worker, which has ended it", async ({ expect }) => {
    const slow = await claimed();
    const other = await claim(slow, "second", UNTIL);
    const ending = { status: "BUILD_FAILED", message: "broken", now: NOW } as const;
    expect(await settleRevision(env.DB, other, ending)).toBe(true);
    expect(await effects(slow)).toEqual(NONE);
    expect(await effects(other)).toEqual(NONE);
    expect(await stateOf(slow)).toEqual({ active: null, status: "BUILD_FAILED", due: null });
  });
});

test("only one of two concurrent workers gets the revision", async ({ expect }) => {
  const of = await newDeployment();
  const found = await selectDeployment(env.DB, of);
  const ref = { ...of, revisionId: found?.revision.id ?? "" };
  const time = { now: NOW, until: UNTIL };
  const rows = await Promise.all(
    ["a", "b", "c", "d"].map((lease) => claimRevision({ ...ref, lease }, time)),
  );
  expect(rows.filter((row) => row !== undefined)).toHaveLength(1);
});
