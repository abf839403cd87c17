import { env } from "cloudflare:workers";
import { assert, beforeAll, describe, inject, test } from "vitest";
import {
  type FeedbackRow,
  selectFeedback,
  selectUncopiedFeedback,
} from "../../src/db/feedback-repo.ts";
import { insertProject } from "../../src/db/projects-repo.ts";
import { changeFeedback, removeFeedback } from "../../src/tracing/feedback/change-feedback.ts";
import { copyFeedback, sweepDueFeedback } from "../../src/tracing/feedback/copy-feedback.ts";
import { parseFeedbackBody } from "../../src/tracing/api/v1/feedback/feedback-body.ts";
import type { FeedbackDeps } from "../../src/tracing/feedback/feedback-shards.ts";
import { recordFeedback } from "../../src/tracing/feedback/record-feedback.ts";
import { newProject } from "../../src/tracing/projects/project-cache.ts";
import type { ShardFeedback } from "../../src/tracing/shard/feedback-stats.ts";
import type { ShardRef } from "../../src/tracing/shard/shard-ref.ts";
import { migrateIndex } from "./support.ts";

beforeAll(() => migrateIndex(inject("migrations")));

const MINUTE = 60_000;

type Hook = () => Promise<unknown>;

/** A workspace whose shards are a map, so that a test determines when they fail and what happens meanwhile. */
class Feedback {
  readonly workspaceId = crypto.randomUUID();
  readonly runId = crypto.randomUUID();
  readonly id = crypto.randomUUID();
  readonly project = newProject(this.workspaceId, { name: "p" }, 0);
  readonly copies = new Map<string, ShardFeedback>();
  readonly awaited = new Set<string>();
  /** Later than the due times that other tests of the file left. */
  now = Date.now();
  runIsKnown = true;
  shardsFail = false;
  beforePut: Hook | null = null;
  afterRemoval: Hook | null = null;

  readonly deps: FeedbackDeps = {
    db: env.DB,
    now: () => this.now,
    shards: {
      locate: async (_workspaceId, runIds, options) => {
        if (!this.runIsKnown || !runIds.includes(this.runId)) {
          if (options.await) for (const id of runIds) this.awaited.add(id);
          return [];
        }
        return [{ runId: this.runId, ref: this.ref }];
      },
      put: async ({ projectId }, rows) => {
        if (this.shardsFail) throw new Error("the shard is down");
        await this.#take("beforePut");
        for (const row of rows) this.copies.set(row.id, row);
        return rows.map(({ runId: id }) => ({ id, traceId: id, projectId, isRoot: true }));
      },
      remove: async (_ref, ids) => {
        if (this.shardsFail) throw new Error("the shard is down");
        for (const id of ids) this.copies.delete(id);
        await this.#take("afterRemoval");
      },
    },
  };

  get ref(): ShardRef {
    return { workspaceId: this.workspaceId, projectId: this.project.id, day: 7, bucket: 0 };
  }

  get copiedScore(): number | null | undefined {
    return this.copies.get(this.id)?.score;
  }

  async record(body: object): Promise<FeedbackRow> {
    const input = parseFeedbackBody({ id: this.id, run_id: this.runId, key: "k", ...body });
    const [outcome] = await recordFeedback(this.deps, this.workspaceId, [input]);
    assert(outcome?.ok);
    return outcome.row;
  }

  change(body: object): Promise<FeedbackRow> {
    return changeFeedback(this.deps, this.workspaceId, this.id, body);
  }

  remove(): Promise<void> {
    return removeFeedback(this.deps, this.workspaceId, this.id);
  }

  async sweepAt(now: number): Promise<void> {
    this.now = now;
    await sweepDueFeedback(this.deps);
  }

  async row(): Promise<FeedbackRow> {
    const row = await selectFeedback(env.DB, this.workspaceId, this.id);
    assert(row !== undefined);
    return row;
  }

  async #take(name: "beforePut" | "afterRemoval"): Promise<void> {
    const hook = this[name];
    this[name] = null;
    await hook?.();
  }
}

describe("the copy of feedback", () => {
  test("is made at once, and noted", async ({ expect }) => {
    const feedback = new Feedback();
    expect(await feedback.record({ score: true })).toMatchObject({
      session_id: feedback.project.id,
      trace_id: feedback.runId,
      shard_day: 7,
      shard_bucket: 0,
      copy_due_at: null,
      copy_wanted_at: null,
    });
    expect(feedback.copies.get(feedback.id)).toEqual({
      id: feedback.id,
      runId: feedback.runId,
      key: "k",
      score: 1,
      value: null,
      comment: null,
      source: "api",
      error: false,
      extendRetention: true,
      createdAt: feedback.now,
    });
  });

  test("waits for the run for up to a day, with growing pauses", async ({ expect }) => {
    const feedback = new Feedback();
    feedback.runIsKnown = false;
    const start = feedback.now;
    const row = await feedback.record({ score: 1 });
    expect([row.session_id, row.copy_due_at]).toEqual([null, start + MINUTE]);
    expect([...feedback.awaited]).toEqual([feedback.runId]);
    for (const [at, next] of [
      [0.5, 1],
      [1, 2],
      [2, 4],
      [4, 8],
      [300, 360],
    ] as const) {
      await feedback.sweepAt(start + at * MINUTE);
      expect([at, (await feedback.row()).copy_due_at]).toEqual([at, start + next * MINUTE]);
    }
    await feedback.sweepAt(start + 1440 * MINUTE);
    expect((await feedback.row()).copy_due_at).toBeNull();

    feedback.runIsKnown = true;
    const ids = [feedback.runId];
    const late = await selectUncopiedFeedback(env.DB, feedback.workspaceId, ids, 10);
    await copyFeedback(feedback.deps, late);
    expect(feedback.copiedScore).toBe(1);
    expect((await feedback.row()).session_id).toBe(feedback.project.id);
  });

  test("is made later if the shard does not answer", async ({ expect }) => {
    const feedback = new Feedback();
    feedback.shardsFail = true;
    const { copy_due_at } = await feedback.record({ score: 1 });
    expect(copy_due_at).toBe(feedback.now + MINUTE);
    feedback.shardsFail = false;
    await feedback.sweepAt(feedback.now + MINUTE);
    expect([feedback.copiedScore, (await feedback.row()).copy_due_at]).toEqual([1, null]);
  });

  test("is made again after a change in between", async ({ expect }) => {
    const feedback = new Feedback();
    feedback.beforePut = () => feedback.change({ score: 9 });
    await feedback.record({ score: 8 });
    expect([feedback.copiedScore, (await feedback.row()).score]).toEqual([8, 9]);
    await feedback.sweepAt(feedback.now);
    expect([feedback.copiedScore, (await feedback.row()).copy_due_at]).toEqual([9, null]);
  });

  test("does not survive if its feedback is deleted while it is copied", async ({ expect }) => {
    const feedback = new Feedback();
    await feedback.record({ score: 1 });
    feedback.beforePut = () => feedback.remove();
    await feedback.change({ score: 2 });
    expect([...feedback.copies]).toEqual([]);
    await expect(feedback.remove()).rejects.toThrow("Feedback not found");
  });

  test("does not survive if its feedback is copied while it is deleted", async ({ expect }) => {
    const feedback = new Feedback();
    await feedback.record({ score: 1 });
    feedback.afterRemoval = () => feedback.record({ score: 2 });
    await feedback.remove();
    expect([...feedback.copies]).toEqual([]);
    await expect(feedback.remove()).rejects.toThrow("Feedback not found");
  });

  test("is deleted before its feedback", async ({ expect }) => {
    const feedback = new Feedback();
    await feedback.record({ score: 1 });
    feedback.shardsFail = true;
    await expect(feedback.remove()).rejects.toThrow("the shard is down");
    expect((await feedback.row()).score).toBe(1);
    feedback.shardsFail = false;
    await feedback.remove();
    expect([...feedback.copies]).toEqual([]);
  });
});

test("refused feedback does not prevent the other copies", async ({ expect }) => {
  const feedback = new Feedback();
  const { workspaceId, project, runId } = feedback;
  await insertProject(env.DB, project);
  await feedback.record({ score: 1 });
  const other = { key: "k", run_id: crypto.randomUUID(), score: 5 };
  const twice = crypto.randomUUID();
  const outcomes = await recordFeedback(
    feedback.deps,
    workspaceId,
    [
      { ...other, id: feedback.id },
      { key: "k", session_id: crypto.randomUUID() },
      { key: "k", session_id: project.id, score: 3 },
      { key: "k", run_id: runId, id: twice, score: 1 },
      { key: "k", run_id: runId, id: twice, score: 2 },
      { key: "bounded", run_id: runId, score: 2, feedback_config: { type: "continuous", max: 1 } },
    ].map((body) => parseFeedbackBody(body)),
  );
  expect(outcomes.map((outcome) => (outcome.ok ? outcome.row.score : outcome.code))).toEqual([
    "conflict",
    "not_found",
    3,
    2,
    2,
    "validation",
  ]);
  expect([...feedback.copies.values()].map(({ id, score }) => [id, score])).toEqual([
    [feedback.id, 1],
    [twice, 2],
  ]);
});
