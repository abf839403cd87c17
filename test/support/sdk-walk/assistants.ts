import { ISO_TIME, MISSING_ID, UUID } from "../uuid.ts";
import { eventually, newAssistant, owned, type WalkCases } from "./walk.ts";

export const ASSISTANTS: WalkCases = {
  create: {
    check: async (walk) => {
      const { client, expect } = walk;
      const given = {
        config: { tags: ["t"], configurable: { flavour: "mint" } },
        context: { tone: "polite" },
        name: "polite",
        description: "Says please.",
      };
      const metadata = { made: "here" };
      const created = await client.assistants.create({ graphId: "zod_state", ...given, metadata });
      expect(created).toEqual({
        assistant_id: expect.stringMatching(UUID),
        graph_id: "zod_state",
        version: 1,
        ...given,
        metadata: owned(walk, metadata),
        created_at: expect.stringMatching(ISO_TIME),
        updated_at: expect.stringMatching(ISO_TIME),
      });
      expect(await client.assistants.get(created.assistant_id)).toEqual(created);
    },
    about: (client, { assistant_id }) =>
      client.assistants.create({
        assistantId: assistant_id,
        graphId: "branching",
        ifExists: "do_nothing",
      }),
    takesIds: true,
  },

  get: {
    check: async (walk) => {
      const created = await newAssistant(walk);
      const { assistants } = walk.client;
      walk.expect(await assistants.get(created.assistant_id)).toEqual(created);
      await walk.expect(assistants.get(MISSING_ID)).rejects.toThrow("HTTP 404");
    },
    about: (client, { assistant_id }) => client.assistants.get(assistant_id),
  },

  getGraph: {
    check: async (walk) => {
      const { assistant_id } = await newAssistant(walk);
      const { nodes, edges } = await walk.client.assistants.getGraph(assistant_id);
      const names = ["__start__", "first", "second", "third", "__end__"];
      walk.expect(nodes.map(({ id }) => id)).toEqual(names);
      walk
        .expect(edges.map(({ source, target }) => `${source} ${target}`).toSorted())
        .toEqual(["__start__ first", "first second", "second third", "third __end__"]);
    },
    about: (client, { assistant_id }) => client.assistants.getGraph(assistant_id),
  },

  getSchemas: {
    check: async (walk) => {
      const { assistant_id } = await newAssistant(walk, "zod_state");
      const schemas = await walk.client.assistants.getSchemas(assistant_id);
      const object = {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        type: "object",
        additionalProperties: false,
      };
      const question = { type: "string", minLength: 1, description: "What to answer" };
      const context = {
        ...object,
        properties: { tone: { type: "string", enum: ["plain", "polite"] } },
      };
      walk.expect(schemas).toEqual({
        graph_id: "zod_state",
        input_schema: { ...object, properties: { question } },
        output_schema: {
          ...object,
          properties: { answer: { type: "string" } },
          required: ["answer"],
        },
        state_schema: walk.expect.objectContaining({ type: "object" }),
        config_schema: context,
        context_schema: context,
      });
    },
    about: (client, { assistant_id }) => client.assistants.getSchemas(assistant_id),
  },

  getSubgraphs: {
    check: async (walk) => {
      const { assistant_id } = await newAssistant(walk, "nested");
      const { assistants } = walk.client;
      const names = async (options: { namespace?: string; recurse?: boolean }) =>
        Object.keys(await assistants.getSubgraphs(assistant_id, options));
      walk
        .expect([
          await names({}),
          await names({ recurse: true }),
          await names({ namespace: "child" }),
          await names({ namespace: "nothing" }),
        ])
        .toEqual([["child"], ["child", "child|grandchild"], ["child"], []]);
    },
    about: async (client, { assistant_id }) => [
      await client.assistants.getSubgraphs(assistant_id).catch(String),
      await client.assistants.getSubgraphs(assistant_id, { namespace: "child" }),
    ],
  },

  update: {
    check: async (walk) => {
      const { client, expect } = walk;
      const created = await newAssistant(walk);
      const updated = await client.assistants.update(created.assistant_id, {
        graphId: "slow",
        config: { recursion_limit: 7 },
        context: { tone: "plain" },
        metadata: { changed: true },
        name: "changed",
        description: "It was changed.",
      });
      expect(updated).toEqual({
        ...created,
        graph_id: "slow",
        version: 2,
        config: { recursion_limit: 7 },
        context: { tone: "plain" },
        metadata: { ...created.metadata, ...owned(walk, { changed: true }) },
        name: "changed",
        description: "It was changed.",
        updated_at: expect.stringMatching(ISO_TIME),
      });
      expect(await client.assistants.get(created.assistant_id)).toEqual(updated);
    },
    about: (client, { assistant_id }) => client.assistants.update(assistant_id, { name: "taken" }),
  },

  delete: {
    check: async (walk) => {
      const { client, expect } = walk;
      const { assistant_id } = await newAssistant(walk);
      const threadId = (await client.threads.create()).thread_id;
      await client.runs.wait(threadId, assistant_id, { input: {} });
      await client.assistants.delete(assistant_id, { deleteThreads: true });
      await expect(client.assistants.get(assistant_id)).rejects.toThrow("HTTP 404");
      await eventually(async () => {
        await expect(client.threads.get(threadId)).rejects.toThrow("HTTP 404");
      });
    },
    about: (client, { assistant_id }) =>
      client.assistants.delete(assistant_id, { deleteThreads: true }),
  },

  search: {
    check: async (walk) => {
      const { client, expect } = walk;
      const metadata = { group: crypto.randomUUID() };
      const made = [];
      for (const name of ["b", "a"]) {
        made.push(await client.assistants.create({ graphId: "slow", name, metadata }));
      }
      const [b, a] = made;
      const wanted = { graphId: "slow", metadata, sortBy: "name", sortOrder: "asc" } as const;
      expect(await client.assistants.search(wanted)).toEqual([a, b]);
      expect(await client.assistants.search({ ...wanted, name: "B" })).toEqual([b]);
      expect(
        await client.assistants.search({ ...wanted, limit: 1, includePagination: true }),
      ).toEqual({ assistants: [a], next: "1" });
      expect(await client.assistants.search({ ...wanted, offset: 1, select: ["name"] })).toEqual([
        { name: "b" },
      ]);
    },
    about: (client) => client.assistants.search({ graphId: "branching", limit: 100 }),
  },

  count: {
    check: async (walk) => {
      const { client, expect } = walk;
      const metadata = { group: crypto.randomUUID() };
      for (const graphId of ["slow", "branching", "slow"]) {
        await client.assistants.create({ graphId, name: graphId, metadata });
      }
      expect([
        await client.assistants.count({ metadata }),
        await client.assistants.count({ metadata, graphId: "slow" }),
        await client.assistants.count({ metadata, name: "branching" }),
        await client.assistants.count({ metadata: { group: "none" } }),
      ]).toEqual([3, 2, 1, 0]);
    },
    about: (client) => client.assistants.count({ graphId: "branching" }),
  },

  getVersions: {
    check: async (walk) => {
      const { client, expect } = walk;
      const { updated_at: _, ...first } = await newAssistant(walk);
      const { assistant_id } = first;
      await client.assistants.update(assistant_id, { name: "second", metadata: { n: 2 } });
      const versions = await client.assistants.getVersions(assistant_id);
      expect(versions).toEqual([
        {
          ...first,
          version: 2,
          name: "second",
          metadata: { ...first.metadata, ...owned(walk, { n: 2 }) },
          created_at: expect.stringMatching(ISO_TIME),
        },
        first,
      ]);
      expect(await client.assistants.getVersions(assistant_id, { limit: 1, offset: 1 })).toEqual([
        first,
      ]);
      expect(await client.assistants.getVersions(assistant_id, { metadata: { n: 2 } })).toEqual(
        versions.slice(0, 1),
      );
    },
    about: (client, { assistant_id }) => client.assistants.getVersions(assistant_id),
  },

  setLatest: {
    check: async (walk) => {
      const { client, expect } = walk;
      const first = await newAssistant(walk);
      const { assistant_id } = first;
      await client.assistants.update(assistant_id, { graphId: "slow", name: "second" });
      const restored = await client.assistants.setLatest(assistant_id, 1);
      expect(restored).toEqual({ ...first, updated_at: expect.stringMatching(ISO_TIME) });
      expect(await client.assistants.get(assistant_id)).toEqual(restored);
    },
    about: (client, { assistant_id }) => client.assistants.setLatest(assistant_id, 1),
  },
};
