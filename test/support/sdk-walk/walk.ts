import type { Client } from "@langchain/langgraph-sdk";
import { type ExpectStatic, vi } from "vitest";
import { type AgentIds, makeThings, MISSING_IDS } from "../agent-routes.ts";
import { MISSING_ID } from "../uuid.ts";

/** A server, and the user who calls it. */
export type Walk = {
  client: Client;
  /** The user as the project authenticates it; null if the server needs a key of the platform. */
  user: string | null;
  expect: ExpectStatic;
};

/** The resources of a user: those with an id in the API's paths, and an item of the store. */
export type Things = AgentIds & {
  /** The item's namespace, as it is stored. */
  store_namespace: string[];
  /** A cron of the thread. */
  thread_cron_id: string;
};

/** The test case of one method of the SDK. */
export type WalkCase = {
  /** Calls the method, and checks the whole answer or reads back its effect. */
  check: (walk: Walk) => Promise<void>;
  /** Calls the method for a user's resources; null if the method names no resource of a user. */
  about: ((client: Client, things: Things) => Promise<unknown>) | null;
  /** Whether it creates a resource with an id: another user learns that the id is taken, and nothing else. */
  takesIds?: true;
  /** Fields that the SDK itself sends, and that the server reports as ignored. */
  ignored?: string[];
};

export type WalkCases = Record<string, WalkCase>;

/** No test runs at midnight of a new year. */
export const YEARLY = "0 0 1 1 *";

export const ALL_STEPS = { counter: 3, trail: ["first", "second", "third"] };

/** Input of runs that tests need to find running: they go on until they are cancelled. */
export const LONG = { input: { steps: 100_000, delay_ms: 20, label: "long" } };

export const KEY = "k";

/** Returns metadata as it is stored: the project's handler writes the owner into it. */
export function owned({ user }: Walk, metadata: object = {}): object {
  return user === null ? metadata : { ...metadata, owner: user };
}

/** Returns a namespace as it is stored: the project's handler puts the user in front of it. */
export function stored({ user }: Pick<Walk, "user">, namespace: string[]): string[] {
  return user === null ? namespace : [user, ...namespace];
}

/** Creates an assistant with an owner: the owner determines who sees it, and a graph's default assistant has none. */
export async function newAssistant({ client }: Walk, graphId = "branching") {
  return client.assistants.create({ graphId, name: `of ${graphId}`, metadata: { made: "here" } });
}

export async function newThread({ client }: Pick<Walk, "client">): Promise<string> {
  return (await client.threads.create()).thread_id;
}

/** Creates a thread whose only run has ended. */
export async function threadWithRun(walk: Walk): Promise<{ threadId: string; runId: string }> {
  const threadId = await newThread(walk);
  await walk.client.runs.wait(threadId, "branching", { input: {} });
  const [run] = await walk.client.runs.list(threadId);
  return { threadId, runId: run?.run_id ?? "" };
}

/** Retries a check: lists and searches lag behind the answers that changed them. */
export function eventually(look: () => Promise<void>): Promise<void> {
  return vi.waitFor(look, { timeout: 150_000, interval: 50 });
}

export async function listed<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

export async function makeAllThings(walk: Pick<Walk, "client" | "user">): Promise<Things> {
  const { client } = walk;
  const ids = await makeThings(client);
  const namespace = ["of", "things"];
  await client.store.putItem(namespace, KEY, { kept: true });
  const cron: object = await client.crons.createForThread(ids.thread_id, "branching", {
    schedule: YEARLY,
  });
  return {
    ...ids,
    store_namespace: stored(walk, namespace),
    thread_cron_id: "cron_id" in cron ? String(cron.cron_id) : "",
  };
}

export const MISSING_THINGS: Things = {
  ...MISSING_IDS,
  store_namespace: ["nobody", "of", "things"],
  thread_cron_id: MISSING_ID,
};
