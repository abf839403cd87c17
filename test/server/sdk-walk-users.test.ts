import type { Client } from "@langchain/langgraph-sdk";
import { describe } from "vitest";
import { bearer } from "../support/bearer.ts";
import { newDeployer } from "../support/deployments.ts";
import { deployed, fixtureTarball } from "../support/rollouts.ts";
import { CASES } from "../support/sdk-walk/cases.ts";
import { makeAllThings, MISSING_THINGS, type Things } from "../support/sdk-walk/walk.ts";
import { requestsTo, testWithServer } from "../support/server.ts";

/** Returns the client of a user. */
type As = (user: string) => Client;

const PLACES = ["the built-in project", "a deployment"] as const;

const test = testWithServer({ AGENT_AUTH: "api-key" }, "guarded-walk")
  .extend("places", { scope: "file" }, async ({ server }) => {
    const deployer = await newDeployer(server);
    const tarball = await fixtureTarball("walk/guarded.langgraph.json");
    const { deployment, revision } = await deployed(deployer, "walked", tarball);
    if (revision.status !== "DEPLOYED") throw new Error(revision.status_message ?? "");
    const agent = requestsTo(`${server.url}/deployments/${deployment.id}`);
    const of =
      (client: typeof server.client): As =>
      (user) =>
        client({ headers: bearer(user) });
    return { "the built-in project": of(server.client), "a deployment": of(agent.client) };
  })
  .extend("things", { scope: "file" }, async ({ places }) => {
    const made = PLACES.map(async (place) => {
      const client = places[place]("owner");
      return [place, await makeAllThings({ client, user: "owner" })] as const;
    });
    return Object.fromEntries(await Promise.all(made)) as Record<(typeof PLACES)[number], Things>;
  });

type Outcome = { error: string } | { value: unknown };

/** Returns the outcome of a call without ids. Equal outcomes reveal nothing about the owner of the ids. */
async function outcomeOf(call: Promise<unknown>, things: Things): Promise<Outcome> {
  const { store_namespace, ...ids } = things;
  const withoutThings = (text: string): string => {
    let masked = text.replaceAll(JSON.stringify(store_namespace).slice(1, -1), '"<namespace>"');
    for (const id of Object.values(ids)) masked = masked.replaceAll(id, "<id>");
    return masked;
  };
  try {
    const value = await call;
    return { value: JSON.parse(withoutThings(JSON.stringify(value ?? null))) as unknown };
  } catch (error) {
    return { error: withoutThings(String(error)) };
  }
}

/** Reads all of the first user's resources as that user. */
async function readAll(client: Client, things: Things): Promise<unknown> {
  const { thread_id, assistant_id, store_namespace } = things;
  return {
    assistant: await client.assistants.get(assistant_id),
    versions: await client.assistants.getVersions(assistant_id),
    thread: await client.threads.get(thread_id, { include: ["ttl"] }),
    history: await client.threads.getHistory(thread_id),
    runs: await client.runs.list(thread_id),
    crons: await client.crons.search(),
    item: await client.store.getItem(store_namespace.slice(1), "k"),
  };
}

const NOTHING = [null, 0, [], { items: [] }, { namespaces: [] }];

describe.for(PLACES)("%s with users of its own", (place) => {
  test.for([...CASES])("serves %s to its user", async ([name, { check }], { places, expect }) => {
    const user = `user_${name.replaceAll(/\W/g, "_")}`;
    await check({ client: places[place](user), user, expect });
  });

  test.for([...CASES].filter(([, { about }]) => about !== null))(
    "answers %s for another user's resources as for missing ones",
    async ([name, { about, takesIds = false }], { places, things, expect }) => {
      const other = places[place](`other_${name.replaceAll(/\W/g, "_")}`);
      if (about === null) throw new Error("There are only cases that name something here");
      const theirs = await outcomeOf(about(other, things[place]), things[place]);
      if (takesIds) {
        expect(theirs).toEqual({ error: expect.stringContaining("HTTP 409") });
        return;
      }
      expect(theirs).toEqual(await outcomeOf(about(other, MISSING_THINGS), MISSING_THINGS));
      // Copying a missing thread is a 409, and commands of a thread's stream have their own errors.
      const nothing = /HTTP 40[45]|HTTP 409: .*Thread not found|There is no run on/;
      const refused = { error: expect.stringMatching(nothing) };
      const pruned = { value: [{ pruned_count: 0 }, { pruned_count: 0 }] };
      expect([refused, pruned, ...NOTHING.map((value) => ({ value }))]).toContainEqual(theirs);
    },
  );

  test("leaves all of the first user's resources unchanged", async ({ places, things, expect }) => {
    const owner = places[place]("owner");
    const before = await readAll(owner, things[place]);
    for (const { about } of CASES.values()) {
      await about?.(places[place]("thief"), things[place]).catch(String);
    }
    expect(await readAll(owner, things[place])).toEqual(before);
  });
});
