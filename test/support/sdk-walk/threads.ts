import { ISO_TIME, MISSING_ID, UUID } from "../uuid.ts";
import {
  ALL_STEPS,
  eventually,
  listed,
  newAssistant,
  newThread,
  owned,
  threadWithRun,
  type Walk,
  type WalkCases,
} from "./walk.ts";

/** Returns the JSON of a new thread, with the changes in `given`. */
function newThreadJson(walk: Walk, given: object = {}): object {
  const { expect } = walk;
  return {
    thread_id: expect.stringMatching(UUID),
    created_at: expect.stringMatching(ISO_TIME),
    updated_at: expect.stringMatching(ISO_TIME),
    state_updated_at: expect.stringMatching(ISO_TIME),
    metadata: owned(walk),
    status: "idle",
    config: {},
    values: null,
    interrupts: {},
    error: null,
    ...given,
  };
}

/** Opens a stream of the protocol, and closes it at the end. */
async function withStream<T>(
  { client }: Pick<Walk, "client">,
  threadId: string,
  assistantId: string,
  use: (thread: ReturnType<typeof client.threads.stream>) => Promise<T>,
): Promise<T> {
  const thread = client.threads.stream(threadId, { assistantId });
  try {
    return await use(thread);
  } finally {
    await thread.close();
  }
}

export const THREADS: WalkCases = {
  create: {
    check: async (walk) => {
      const { client, expect } = walk;
      const threadId = crypto.randomUUID();
      const created = await client.threads.create({
        threadId,
        graphId: "branching",
        metadata: { made: "here" },
        supersteps: [{ updates: [{ values: { counter: 2, trail: ["in"] }, asNode: "first" }] }],
        ttl: 60,
      });
      expect(created).toEqual(
        newThreadJson(walk, {
          thread_id: threadId,
          metadata: owned(walk, { made: "here", graph_id: "branching" }),
          values: { counter: 2, trail: ["in"] },
          status: expect.any(String),
          config: expect.any(Object),
        }),
      );
      expect(await client.threads.get(threadId)).toEqual(created);
      expect(await client.threads.create({ threadId, ifExists: "do_nothing" })).toEqual(created);
      expect(await client.threads.get(threadId, { include: ["ttl"] })).toMatchObject({
        ttl: { strategy: "delete", ttl_minutes: 60 },
      });
    },
    about: (client, { thread_id }) =>
      client.threads.create({ threadId: thread_id, ifExists: "do_nothing" }),
    takesIds: true,
  },

  get: {
    check: async (walk) => {
      const { client, expect } = walk;
      const { threadId } = await threadWithRun(walk);
      const { assistant_id, metadata } = (await client.runs.list(threadId))[0] ?? {};
      expect(await client.threads.get(threadId)).toEqual(
        newThreadJson(walk, {
          thread_id: threadId,
          metadata: { ...owned(walk), assistant_id, graph_id: "branching" },
          values: ALL_STEPS,
          config: {
            configurable: expect.objectContaining({ graph_id: "branching", assistant_id }),
            metadata,
          },
        }),
      );
      await expect(client.threads.get(MISSING_ID)).rejects.toThrow("HTTP 404");
    },
    about: (client, { thread_id }) => client.threads.get(thread_id, { include: ["ttl"] }),
  },

  copy: {
    check: async (walk) => {
      const { client, expect } = walk;
      const { threadId } = await threadWithRun(walk);
      const copy = await client.threads.copy(threadId);
      const source = await client.threads.get(threadId);
      expect(copy).toEqual(
        newThreadJson(walk, {
          metadata: { ...source.metadata, thread_id: copy.thread_id },
          values: ALL_STEPS,
        }),
      );
      expect(await client.threads.get(copy.thread_id)).toEqual(copy);
      expect(await client.threads.getHistory(copy.thread_id)).toHaveLength(
        (await client.threads.getHistory(threadId)).length,
      );
    },
    about: (client, { thread_id }) => client.threads.copy(thread_id),
  },

  update: {
    check: async (walk) => {
      const { client, expect } = walk;
      const made = await client.threads.create({ metadata: { kept: 1, changed: 1 } });
      const { thread_id } = made;
      const updated = await client.threads.update(thread_id, { metadata: { changed: 2 }, ttl: 90 });
      expect(updated).toEqual({
        ...made,
        metadata: owned(walk, { kept: 1, changed: 2 }),
        updated_at: expect.stringMatching(ISO_TIME),
      });
      const minimal = { metadata: { changed: 3 }, returnMinimal: true } as const;
      expect(await client.threads.update(thread_id, minimal)).toBe(undefined);
      expect(await client.threads.get(thread_id, { include: ["ttl"] })).toMatchObject({
        metadata: owned(walk, { kept: 1, changed: 3 }),
        ttl: { strategy: "delete", ttl_minutes: 90 },
      });
    },
    about: (client, { thread_id }) => client.threads.update(thread_id, { metadata: { taken: 1 } }),
  },

  delete: {
    check: async (walk) => {
      const { client, expect } = walk;
      const { threadId } = await threadWithRun(walk);
      await client.threads.delete(threadId);
      await expect(client.threads.get(threadId)).rejects.toThrow("HTTP 404");
      await eventually(async () => {
        expect(await client.threads.search({ ids: [threadId] })).toEqual([]);
      });
    },
    about: (client, { thread_id }) => client.threads.delete(thread_id),
  },

  prune: {
    check: async (walk) => {
      const { client, expect } = walk;
      const { threadId } = await threadWithRun(walk);
      const kept = await client.threads.getState(threadId);
      expect(
        await client.threads.prune([threadId, MISSING_ID], { strategy: "keep_latest" }),
      ).toEqual({ pruned_count: 1 });
      await eventually(async () => {
        expect(await client.threads.getHistory(threadId)).toHaveLength(1);
      });
      expect((await client.threads.getState(threadId)).values).toEqual(kept.values);
      expect(await client.threads.prune([threadId])).toEqual({ pruned_count: 1 });
      await expect(client.threads.get(threadId)).rejects.toThrow("HTTP 404");
    },
    about: async (client, { thread_id }) => [
      await client.threads.prune([thread_id]),
      await client.threads.prune([thread_id], { strategy: "keep_latest" }),
    ],
  },

  search: {
    check: async (walk) => {
      const { client, expect } = walk;
      const metadata = { group: crypto.randomUUID() };
      const idle = await client.threads.create({ metadata });
      const run = await client.threads.create({ metadata });
      await client.runs.wait(run.thread_id, "branching", { input: {} });
      const ended = await client.threads.get(run.thread_id);
      const wanted = { metadata, sortBy: "created_at", sortOrder: "asc" } as const;
      await eventually(async () => {
        expect(await client.threads.search(wanted)).toEqual([idle, ended]);
      });
      expect(await client.threads.search({ ids: [idle.thread_id] })).toEqual([idle]);
      expect(await client.threads.search({ ...wanted, values: { counter: 3 } })).toEqual([ended]);
      expect(await client.threads.search({ ...wanted, status: "busy" })).toEqual([]);
      expect(
        await client.threads.search({ ...wanted, limit: 1, offset: 1, select: ["thread_id"] }),
      ).toEqual([{ thread_id: ended.thread_id }]);
      const last = { last: "values.trail[-1]" };
      expect(
        await client.threads.search({ ids: [ended.thread_id], select: ["status"], extract: last }),
      ).toEqual([{ status: "idle", extracted: { last: "third" } }]);
    },
    about: async (client, { thread_id }) => [
      ...(await client.threads.search({ ids: [thread_id] })),
      ...(await client.threads.search()),
    ],
  },

  count: {
    check: async (walk) => {
      const { client, expect } = walk;
      const metadata = { group: crypto.randomUUID() };
      await client.threads.create({ metadata });
      const { thread_id } = await client.threads.create({ metadata });
      await client.runs.wait(thread_id, "branching", { input: {} });
      await eventually(async () => {
        expect([
          await client.threads.count({ metadata }),
          await client.threads.count({ metadata, status: "idle" }),
          await client.threads.count({ metadata, values: { counter: 3 } }),
          await client.threads.count({ metadata: { group: "none" } }),
        ]).toEqual([2, 2, 1, 0]);
      });
    },
    about: (client) => client.threads.count(),
  },

  getState: {
    check: async (walk) => {
      const { client, expect } = walk;
      const { threadId, runId } = await threadWithRun(walk);
      const state = await client.threads.getState(threadId);
      const { checkpoint } = state;
      const checkpoint_id = checkpoint.checkpoint_id ?? "";
      const root = { thread_id: threadId, checkpoint_ns: "", checkpoint_map: null };
      expect(state).toEqual({
        values: ALL_STEPS,
        next: [],
        tasks: [],
        metadata: expect.objectContaining({ source: "loop", step: 3, run_id: runId }),
        created_at: expect.stringMatching(ISO_TIME),
        checkpoint: { ...root, checkpoint_id },
        parent_checkpoint: { ...root, checkpoint_id: expect.stringMatching(UUID) },
      });
      expect(await client.threads.getState(threadId, checkpoint_id)).toEqual(state);
      expect(await client.threads.getState(threadId, checkpoint, { subgraphs: true })).toEqual(
        state,
      );
      const before = await client.threads.getState(threadId, state.parent_checkpoint ?? undefined);
      expect([before.values, before.next]).toEqual([
        { counter: 2, trail: ["first", "second"] },
        ["third"],
      ]);
    },
    about: async (client, { thread_id, checkpoint_id }) => {
      const checkpoint = { thread_id, checkpoint_id, checkpoint_ns: "" };
      const told = await Promise.all([
        client.threads.getState(thread_id, checkpoint_id).catch(String),
        client.threads.getState(thread_id, checkpoint as never).catch(String),
      ]);
      if (told.some((each) => typeof each !== "string")) return told;
      return client.threads.getState(thread_id, undefined, { subgraphs: true });
    },
  },

  updateState: {
    check: async (walk) => {
      const { client, expect } = walk;
      const { threadId } = await threadWithRun(walk);
      const { parent_checkpoint } = await client.threads.getState(threadId);
      const told: unknown = await client.threads.updateState(threadId, {
        values: { counter: 10, trail: ["edited"] },
        asNode: "third",
        checkpointId: parent_checkpoint?.checkpoint_id ?? "",
      });
      const state = await client.threads.getState(threadId);
      expect(told).toEqual({ checkpoint: state.checkpoint });
      expect([state.values, state.parent_checkpoint]).toEqual([
        { counter: 12, trail: ["first", "second", "edited"] },
        parent_checkpoint,
      ]);
    },
    about: (client, { thread_id }) =>
      client.threads.updateState(thread_id, { values: { counter: 1 }, asNode: "first" }),
  },

  patchState: {
    // This method is not served: see docs/api.md.
    check: async (walk) => {
      const threadId = await newThread(walk);
      const patched = walk.client.threads.patchState(threadId, { a: 1 });
      await walk.expect(patched).rejects.toThrow(/HTTP 40[45]/);
    },
    about: (client, { thread_id }) => client.threads.patchState(thread_id, { taken: 1 }),
  },

  getHistory: {
    check: async (walk) => {
      const { client, expect } = walk;
      const { threadId, runId } = await threadWithRun(walk);
      const history = await client.threads.getHistory(threadId);
      expect(history.map(({ values, next }) => [values, next])).toEqual([
        [ALL_STEPS, []],
        [{ counter: 2, trail: ["first", "second"] }, ["third"]],
        [{ counter: 1, trail: ["first"] }, ["second"]],
        [{ counter: 0, trail: [] }, ["first"]],
        [expect.anything(), ["__start__"]],
      ]);
      expect(history[0]).toEqual(await client.threads.getState(threadId));
      const before = { configurable: { ...history[2]?.checkpoint } };
      expect(await client.threads.getHistory(threadId, { limit: 1, before })).toEqual([history[3]]);
      const ofRun = { metadata: { run_id: runId, step: 1 } };
      expect(await client.threads.getHistory(threadId, ofRun)).toEqual([history[2]]);
    },
    about: (client, { thread_id }) => client.threads.getHistory(thread_id),
  },

  joinStream: {
    check: async (walk) => {
      const { client, expect } = walk;
      const threadId = await newThread(walk);
      const leaving = new AbortController();
      const options = {
        lastEventId: "-",
        streamMode: "lifecycle",
        signal: leaving.signal,
      } as const;
      const first = await client.runs.create(threadId, "branching", {
        input: {},
        streamResumable: true,
      });
      const seen: unknown[] = [];
      for await (const part of client.threads.joinStream(threadId, options)) {
        seen.push(part.data);
        if (seen.length === 2) break;
      }
      leaving.abort();
      expect(seen).toMatchObject([
        { run_id: first.run_id },
        { run_id: first.run_id, status: "run_done" },
      ]);
    },
    about: (client, { thread_id }) => listed(client.threads.joinStream(thread_id)),
  },

  stream: {
    check: async (walk) => {
      const { assistant_id } = await newAssistant(walk);
      const threadId = crypto.randomUUID();
      await withStream(walk, threadId, assistant_id, async (thread) => {
        const { values } = thread;
        await thread.run.start({ input: {} });
        walk.expect(await thread.output).toEqual(ALL_STEPS);
        walk.expect((await listed(values)).at(-1)).toEqual(ALL_STEPS);
        const state = await walk.client.threads.getState(threadId);
        walk.expect((await thread.state.get({ namespace: [] })).values).toEqual(state.values);
      });
      const [run, ...others] = await walk.client.runs.list(threadId);
      walk.expect([run?.assistant_id, run?.status, others]).toEqual([assistant_id, "success", []]);
    },
    about: (client, { thread_id }) =>
      withStream({ client }, thread_id, "branching", (thread) =>
        thread.state.get({ namespace: [] }),
      ),
  },
};
