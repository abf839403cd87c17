import type { Client } from "@langchain/langgraph-sdk";
import { type ExpectStatic, vi } from "vitest";
import { type AgentIds, makeThings, MISSING_IDS } from "../agent-routes.ts";
import { MISSING_ID } from "../uuid.ts";

/** A server, and who asks it. */
export type Walk = {
  client: Client;
  /** The user that the project knows; null where a key of the platform is asked for. */
  user: string | null;
  expect: ExpectStatic;
};

/** What somebody has: an item of the store besides what the paths of the API name. */
export type Things = AgentIds & {
  /** Of an item of the store, as it is stored. */
  store_namespace: string[];
  /** A cron of the thread. */
  thread_cron_id: string;
};

/** What is known of one method of the SDK. */
export type WalkCase = {
  /** Calls it, and looks at the whole answer or reads back what it has done. */
  check: (walk: Walk) => Promise<void>;
  /** The call about somebody's things; null for a method that names nothing that is somebody's. */
  about: ((client: Client, things: Things) => Promise<unknown>) | null;
  /** It makes something by an id: another user learns that the id is taken, and nothing else. */
  takesIds?: true;
  /** What the SDK sends for its own part, and the server says that it ignores. */
  ignored?: string[];
};

export type WalkCases = Record<string, WalkCase>;

/** No test is there at midnight of a new year. */
export const YEARLY = "0 0 1 1 *";

export const ALL_STEPS = { counter: 3, trail: ["first", "second", "third"] };

/** For runs that are to be found at work: they go on until somebody ends them. */
export const LONG = { input: { steps: 100_000, delay_ms: 20, label: "long" } };

export const KEY = "k";

/** Metadata as it is stored: the project's handler writes the owner into it. */
export function owned({ user }: Walk, metadata: object = {}): object {
  return user === null ? metadata : { ...metadata, owner: user };
}

/** A namespace as it is stored: the project's handler puts the user before it. */
export function stored({ user }: Pick<Walk, "user">, namespace: string[]): string[] {
  return user === null ? namespace : [user, ...namespace];
}

/** An assistant of one's own: whose it is decides who sees it, and a graph's default one is nobody's. */
export async function newAssistant({ client }: Walk, graphId = "branching") {
  return client.assistants.create({ graphId, name: `of ${graphId}`, metadata: { made: "here" } });
}

export async function newThread({ client }: Pick<Walk, "client">): Promise<string> {
  return (await client.threads.create()).thread_id;
}

/** A thread whose only run has ended. */
export async function threadWithRun(walk: Walk): Promise<{ threadId: string; runId: string }> {
  const threadId = await newThread(walk);
  await walk.client.runs.wait(threadId, "branching", { input: {} });
  const [run] = await walk.client.runs.list(threadId);
  return { threadId, runId: run?.run_id ?? "" };
}

/** What lists and searches show comes after the answer that it follows from. */
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
