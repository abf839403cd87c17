import type { Client } from "@langchain/langgraph-sdk";
import { collect, dataOf, namesOf } from "../run-events.ts";
import { ISO_TIME, MISSING_ID, UUID } from "../uuid.ts";
import {
  ALL_STEPS,
  eventually,
  listed,
  LONG,
  newAssistant,
  newThread,
  owned,
  threadWithRun,
  type Walk,
  type WalkCases,
} from "./walk.ts";

/** The SDK sends the members of a batch unchanged, whatever its types declare. */
type BatchRun = Parameters<Client["runs"]["createBatch"]>[0][number] & { on_completion: string };

/** Starts a long run on a new thread, and waits until it is running. */
async function longRun(walk: Walk): Promise<{ threadId: string; runId: string }> {
  const { client, expect } = walk;
  const threadId = await newThread(walk);
  const { run_id: runId } = await client.runs.create(threadId, "slow", LONG);
  await eventually(async () => {
    expect((await client.runs.get(threadId, runId)).status).toBe("running");
  });
  return { threadId, runId };
}

async function statusOf(client: Client, threadId: string, runId: string): Promise<string> {
  return (await client.runs.get(threadId, runId)).status;
}

export const RUNS: WalkCases = {
  create: {
    check: async (walk) => {
      const { client, expect } = walk;
      const { assistant_id } = await newAssistant(walk);
      const threadId = await newThread(walk);
      let told: unknown;
      const created = await client.runs.create(threadId, assistant_id, {
        input: { trail: ["in"] },
        metadata: { purpose: "walk" },
        config: { tags: ["t"] },
        multitaskStrategy: "reject",
        streamMode: ["updates", "values"],
        durability: "sync",
        onRunCreated: (run) => {
          told = run;
        },
      });
      expect(created).toEqual({
        run_id: expect.stringMatching(UUID),
        thread_id: threadId,
        assistant_id,
        created_at: expect.stringMatching(ISO_TIME),
        updated_at: expect.stringMatching(ISO_TIME),
        status: "pending",
        metadata: { ...owned(walk), made: "here", purpose: "walk" },
        multitask_strategy: "reject",
        kwargs: expect.objectContaining({
          input: { trail: ["in"] },
          stream_mode: ["updates", "values"],
          durability: "sync",
        }),
      });
      expect(told).toEqual({ run_id: created.run_id, thread_id: threadId });
      expect(await client.runs.join(threadId, created.run_id)).toEqual({
        counter: 3,
        trail: ["in", "first", "second", "third"],
      });
    },
    about: async (client, { thread_id, assistant_id }) => {
      const stateless = await client.runs.create(null, assistant_id, { input: {} }).catch(String);
      if (typeof stateless !== "string") return stateless;
      return client.runs.create(thread_id, "branching", { input: {} });
    },
  },

  stream: {
    check: async (walk) => {
      const { client, expect } = walk;
      const { assistant_id } = await newAssistant(walk);
      const threadId = await newThread(walk);
      const payload = { input: {}, streamMode: ["updates", "values"] as ("updates" | "values")[] };
      const events = await collect(client.runs.stream(threadId, assistant_id, payload));
      expect(dataOf(events, "updates")).toEqual(
        ["first", "second", "third"].map((name) => ({ [name]: { counter: 1, trail: [name] } })),
      );
      expect(dataOf(events, "values").at(-1)).toEqual(ALL_STEPS);
      const [run] = await client.runs.list(threadId);
      expect(dataOf(events, "metadata")).toMatchObject([{ run_id: run?.run_id }]);
      const stateless = await collect(client.runs.stream(null, assistant_id, payload));
      expect(namesOf(stateless)).toEqual(namesOf(events));
    },
    about: async (client, { thread_id, assistant_id }) => {
      const stateless = await collect(client.runs.stream(null, assistant_id)).catch(String);
      if (typeof stateless !== "string") return stateless;
      return listed(client.runs.stream(thread_id, "branching", { input: {} }));
    },
  },

  createBatch: {
    check: async (walk) => {
      const { client, expect } = walk;
      const { assistant_id: assistantId } = await newAssistant(walk);
      const wanted: BatchRun[] = [1, 2].map((n) => ({
        assistantId,
        input: { trail: [`run ${n}`] },
        metadata: { n },
        on_completion: "keep",
      }));
      const runs = await client.runs.createBatch(wanted);
      expect(runs).toMatchObject(
        [1, 2].map((n) => ({ assistant_id: assistantId, metadata: { ...owned(walk), n } })),
      );
      for (const [index, { thread_id, run_id }] of runs.entries()) {
        expect(await client.runs.join(thread_id, run_id)).toEqual({
          counter: 3,
          trail: [`run ${index + 1}`, ...ALL_STEPS.trail],
        });
      }
    },
    ignored: ["[].assistantId"],
    about: (client, { assistant_id }) =>
      client.runs.createBatch([{ assistantId: assistant_id, input: {} }]),
  },

  wait: {
    check: async (walk) => {
      const { client, expect } = walk;
      const { assistant_id } = await newAssistant(walk);
      const threadId = await newThread(walk);
      expect(await client.runs.wait(threadId, assistant_id, { input: {} })).toEqual(ALL_STEPS);
      expect(await client.runs.wait(null, assistant_id, { input: {} })).toEqual(ALL_STEPS);
      const stopping = { input: {}, interruptBefore: ["second"] } as const;
      expect(await client.runs.wait(threadId, assistant_id, stopping as never)).toEqual({
        __interrupt__: [],
      });
      expect(await client.threads.getState(threadId)).toMatchObject({
        values: { trail: [...ALL_STEPS.trail, "first"] },
        next: ["second"],
      });
    },
    about: async (client, { thread_id, assistant_id }) => {
      const stateless = await client.runs.wait(null, assistant_id, { input: {} }).catch(String);
      if (typeof stateless !== "string") return stateless;
      return client.runs.wait(thread_id, "branching", { input: {} });
    },
  },

  list: {
    check: async (walk) => {
      const { client, expect } = walk;
      const { threadId, runId } = await threadWithRun(walk);
      await client.runs.wait(threadId, "branching", { input: {} });
      const [second, first, ...others] = await client.runs.list(threadId);
      expect([first?.run_id, others]).toEqual([runId, []]);
      expect(second).toEqual(await client.runs.get(threadId, second?.run_id ?? ""));
      expect(await client.runs.list(threadId, { limit: 1, offset: 1 })).toEqual([first]);
      expect(await client.runs.list(threadId, { status: "error" })).toEqual([]);
      expect(await client.runs.list(threadId, { limit: 1, select: ["status"] })).toEqual([
        { status: "success" },
      ]);
    },
    about: (client, { thread_id }) => client.runs.list(thread_id),
  },

  get: {
    check: async (walk) => {
      const { client, expect } = walk;
      const threadId = await newThread(walk);
      const created = await client.runs.create(threadId, "branching", { input: {} });
      await client.runs.join(threadId, created.run_id);
      expect(await client.runs.get(threadId, created.run_id)).toEqual({
        ...created,
        status: "success",
        updated_at: expect.stringMatching(ISO_TIME),
      });
      await expect(client.runs.get(threadId, MISSING_ID)).rejects.toThrow("HTTP 404");
    },
    about: (client, { thread_id, run_id }) => client.runs.get(thread_id, run_id),
  },

  cancel: {
    check: async (walk) => {
      const { client, expect } = walk;
      const interrupted = await longRun(walk);
      await client.runs.cancel(interrupted.threadId, interrupted.runId, true);
      expect(await statusOf(client, interrupted.threadId, interrupted.runId)).toBe("interrupted");
      const undone = await longRun(walk);
      await client.runs.cancel(undone.threadId, undone.runId, true, "rollback");
      await expect(client.runs.get(undone.threadId, undone.runId)).rejects.toThrow("HTTP 404");
      expect(await client.threads.getHistory(undone.threadId)).toEqual([]);
    },
    about: async (client, { thread_id, run_id }) => {
      const waited = await client.runs.cancel(thread_id, run_id, true).catch(String);
      if (typeof waited !== "string") return waited;
      return client.runs.cancel(thread_id, run_id, false, "rollback");
    },
  },

  cancelMany: {
    check: async (walk) => {
      const { client, expect } = walk;
      const { threadId, runId } = await longRun(walk);
      const queued = await client.runs.create(threadId, "slow", LONG);
      await client.runs.cancelMany({ threadId, runIds: [runId, queued.run_id] });
      for (const id of [runId, queued.run_id]) {
        await client.runs.join(threadId, id);
        expect(await statusOf(client, threadId, id)).toBe("interrupted");
      }
    },
    about: async (client, { thread_id, run_id }) => {
      const all = await client.runs.cancelMany({ status: "all" }).catch(String);
      if (typeof all !== "string") return all;
      return client.runs.cancelMany({
        threadId: thread_id,
        runIds: [run_id],
        action: "rollback",
      });
    },
  },

  join: {
    check: async (walk) => {
      const { client, expect } = walk;
      const threadId = await newThread(walk);
      const { run_id } = await client.runs.create(threadId, "branching", { input: {} });
      expect(await client.runs.join(threadId, run_id)).toEqual(ALL_STEPS);
      await expect(client.runs.join(threadId, MISSING_ID)).rejects.toThrow("HTTP 404");
    },
    about: (client, { thread_id, run_id }) =>
      client.runs.join(thread_id, run_id, { cancelOnDisconnect: true }),
  },

  joinStream: {
    check: async (walk) => {
      const { client, expect } = walk;
      const threadId = await newThread(walk);
      const { run_id } = await client.runs.create(threadId, "branching", {
        input: {},
        streamMode: ["updates", "values"],
        streamResumable: true,
      });
      const options = { lastEventId: "-1", streamMode: "values" as const };
      const all = await collect(client.runs.joinStream(threadId, run_id, options));
      expect(dataOf(all, "values").at(-1)).toEqual(ALL_STEPS);
      const stateless = await client.runs.create(null, "branching", {
        input: {},
        streamMode: "values",
        streamResumable: true,
      });
      const whole = { lastEventId: "-1" };
      const read = await collect(client.runs.joinStream(null, stateless.run_id, whole));
      expect(dataOf(read, "values").at(-1)).toEqual(ALL_STEPS);
    },
    about: async (client, { thread_id, run_id }) => {
      const stateless = await collect(client.runs.joinStream(null, run_id)).catch(String);
      if (typeof stateless !== "string") return stateless;
      return collect(client.runs.joinStream(thread_id, run_id));
    },
  },

  delete: {
    check: async (walk) => {
      const { client, expect } = walk;
      const { threadId, runId } = await threadWithRun(walk);
      await client.runs.delete(threadId, runId);
      await expect(client.runs.get(threadId, runId)).rejects.toThrow("HTTP 404");
      expect(await client.runs.list(threadId)).toEqual([]);
    },
    about: (client, { thread_id, run_id }) => client.runs.delete(thread_id, run_id),
  },
};
