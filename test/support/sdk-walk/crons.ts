import type { Client } from "@langchain/langgraph-sdk";
import { ISO_TIME, MISSING_ID, UUID } from "../uuid.ts";
import { newAssistant, newThread, owned, type Walk, type WalkCases, YEARLY } from "./walk.ts";

type CronJson = Record<string, unknown> & { cron_id: string };

type Given = Parameters<Client["crons"]["create"]>[1];

/** Creates a cron. The SDK's type calls the result a run. */
async function create({ client }: Walk, assistantId: string, given: Given): Promise<CronJson> {
  return (await client.crons.create(assistantId, given)) as unknown as CronJson;
}

/** Returns the JSON of a new cron, with the changes in `given`. */
function newCron(walk: Walk, given: object): object {
  const { expect, user } = walk;
  return {
    cron_id: expect.stringMatching(UUID),
    thread_id: null,
    on_run_completed: "delete",
    end_time: null,
    schedule: YEARLY,
    timezone: null,
    created_at: expect.stringMatching(ISO_TIME),
    updated_at: expect.stringMatching(ISO_TIME),
    user_id: user,
    next_run_date: expect.stringMatching(ISO_TIME),
    enabled: true,
    ...given,
  };
}

async function found({ client }: Walk, cronId: string, assistantId: string): Promise<unknown> {
  const crons = await client.crons.search({ assistantId });
  return crons.find(({ cron_id }) => cron_id === cronId);
}

export const CRONS: WalkCases = {
  create: {
    check: async (walk) => {
      const { assistant_id } = await newAssistant(walk);
      const created = await create(walk, assistant_id, {
        schedule: YEARLY,
        timezone: "Europe/Berlin",
        input: { trail: ["in"] },
        metadata: { purpose: "walk" },
        config: { tags: ["a"] },
        context: { tone: "plain" },
        interruptBefore: ["second"],
        streamMode: "updates",
        endTime: "2200-01-01T00:00:00+01:00",
        onRunCompleted: "keep",
      });
      walk.expect(created).toEqual(
        newCron(walk, {
          assistant_id,
          on_run_completed: "keep",
          timezone: "Europe/Berlin",
          end_time: "2199-12-31T23:00:00.000Z",
          metadata: owned(walk, { purpose: "walk" }),
          payload: {
            input: { trail: ["in"] },
            config: { tags: ["a"] },
            context: { tone: "plain" },
            interrupt_before: ["second"],
            stream_mode: "updates",
          },
        }),
      );
      walk.expect(await found(walk, created.cron_id, assistant_id)).toEqual(created);
    },
    about: (client, { assistant_id }) => client.crons.create(assistant_id, { schedule: YEARLY }),
  },

  createForThread: {
    check: async (walk) => {
      const { assistant_id } = await newAssistant(walk);
      const thread_id = await newThread(walk);
      const given = { schedule: YEARLY, input: { trail: ["in"] }, enabled: false };
      const created: unknown = await walk.client.crons.createForThread(
        thread_id,
        assistant_id,
        given,
      );
      walk.expect(created).toEqual(
        newCron(walk, {
          assistant_id,
          thread_id,
          on_run_completed: null,
          payload: { input: { trail: ["in"] } },
          metadata: owned(walk),
          enabled: false,
          next_run_date: null,
        }),
      );
      walk.expect(await walk.client.crons.search({ threadId: thread_id })).toEqual([created]);
    },
    about: (client, { thread_id }) =>
      client.crons.createForThread(thread_id, "branching", { schedule: YEARLY }),
  },

  update: {
    check: async (walk) => {
      const { assistant_id } = await newAssistant(walk);
      const created = await create(walk, assistant_id, { schedule: YEARLY, input: { n: 1 } });
      const updated: unknown = await walk.client.crons.update(created.cron_id, {
        schedule: "0 12 * * *",
        timezone: "Asia/Tokyo",
        input: { n: 2 },
        metadata: { changed: true },
        onRunCompleted: "keep",
        enabled: false,
      });
      walk.expect(updated).toEqual({
        ...created,
        schedule: "0 12 * * *",
        timezone: "Asia/Tokyo",
        payload: { input: { n: 2 } },
        metadata: owned(walk, { changed: true }),
        on_run_completed: "keep",
        enabled: false,
        next_run_date: null,
        updated_at: walk.expect.stringMatching(ISO_TIME),
      });
      walk.expect(await found(walk, created.cron_id, assistant_id)).toEqual(updated);
    },
    about: (client, { cron_id }) => client.crons.update(cron_id, { enabled: false }),
  },

  delete: {
    check: async (walk) => {
      const { assistant_id } = await newAssistant(walk);
      const { cron_id } = await create(walk, assistant_id, { schedule: YEARLY });
      await walk.client.crons.delete(cron_id);
      walk.expect(await found(walk, cron_id, assistant_id)).toBe(undefined);
      await walk.expect(walk.client.crons.delete(MISSING_ID)).rejects.toThrow("HTTP 404");
    },
    about: (client, { cron_id }) => client.crons.delete(cron_id),
  },

  search: {
    check: async (walk) => {
      const { crons } = walk.client;
      const { assistant_id: assistantId } = await newAssistant(walk);
      const made: CronJson[] = [];
      for (const n of [1, 2]) {
        const given = { schedule: YEARLY, metadata: { n }, enabled: n === 1 };
        made.push(await create(walk, assistantId, given));
      }
      const [first, second] = made;
      const wanted = { assistantId, sortBy: "created_at", sortOrder: "asc" } as const;
      walk.expect(await crons.search(wanted)).toEqual([first, second]);
      walk.expect(await crons.search({ ...wanted, enabled: false })).toEqual([second]);
      walk.expect(await crons.search({ ...wanted, metadata: { n: 1 } })).toEqual([first]);
      walk
        .expect(await crons.search({ ...wanted, limit: 1, offset: 1, select: ["cron_id"] }))
        .toEqual([{ cron_id: second?.cron_id }]);
    },
    about: async (client, { assistant_id, thread_id }) => [
      ...(await client.crons.search({ assistantId: assistant_id })),
      ...(await client.crons.search({ threadId: thread_id })),
      ...(await client.crons.search()),
    ],
  },

  count: {
    check: async (walk) => {
      const { crons } = walk.client;
      const { assistant_id: assistantId } = await newAssistant(walk);
      const threadId = await newThread(walk);
      await create(walk, assistantId, { schedule: YEARLY, metadata: { n: 1 } });
      await crons.createForThread(threadId, assistantId, { schedule: YEARLY });
      walk
        .expect([
          await crons.count({ assistantId }),
          await crons.count({ threadId }),
          await crons.count({ assistantId, metadata: { n: 1 } }),
          await crons.count({ assistantId: MISSING_ID }),
        ])
        .toEqual([2, 1, 1, 0]);
    },
    about: async (client, { assistant_id, thread_id }) =>
      (await client.crons.count({ assistantId: assistant_id })) +
      (await client.crons.count({ threadId: thread_id })),
  },
};
