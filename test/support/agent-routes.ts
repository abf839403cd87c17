import type { Client, Run } from "@langchain/langgraph-sdk";
import { documentedRoutes, fill, type Route } from "./tenancy.ts";
import type { TestServer } from "./server.ts";
import { MISSING_ID } from "./uuid.ts";

const OPEN = new Set(["/ok", "/info"]);

/** The ids in the paths of the agent server. */
export type AgentIds = {
  thread_id: string;
  assistant_id: string;
  run_id: string;
  checkpoint_id: string;
  namespace: string;
  cron_id: string;
};

export const MISSING_IDS: AgentIds = {
  thread_id: MISSING_ID,
  assistant_id: MISSING_ID,
  run_id: MISSING_ID,
  checkpoint_id: MISSING_ID,
  namespace: "child",
  cron_id: MISSING_ID,
};

/** Protocols whose messages name the resource that they are about: `protocols-access.test.ts` tests them. */
const PROTOCOLS = /^\/(mcp|a2a|\.well-known)\b/;

/** Routes that are about no stored resource: a project's files for browsers, and figures for the operator. */
const ABOUT_NOTHING_STORED = /^\/(ui\/|metrics$)/;

/** Returns the documented routes of the agent server that authenticate the caller and are about stored resources. */
export async function agentRoutes(server: TestServer): Promise<Route[]> {
  const routes = await documentedRoutes(server);
  return routes.filter(
    ({ path }) =>
      isAgentServer(path) &&
      !OPEN.has(path) &&
      !PROTOCOLS.test(path) &&
      !ABOUT_NOTHING_STORED.test(path),
  );
}

/** Returns whether a path belongs to the agent server. The other surfaces need a key of the platform. */
export function isAgentServer(path: string): boolean {
  return !/^\/(api|v[12])\//.test(path);
}

/** Creates an assistant of the graph "branching", a thread with a run of it, and a cron whose tick is far away. */
export async function makeThings(client: Client): Promise<AgentIds> {
  const { assistant_id } = await client.assistants.create({ graphId: "branching" });
  const { thread_id } = await client.threads.create();
  await client.runs.wait(thread_id, assistant_id, { input: {} });
  const [run] = await client.runs.list(thread_id);
  const { checkpoint } = await client.threads.getState(thread_id);
  const cron_id = await newCron(client, assistant_id);
  return {
    thread_id,
    assistant_id,
    run_id: run?.run_id ?? "",
    checkpoint_id: checkpoint.checkpoint_id ?? "",
    namespace: "child",
    cron_id,
  };
}

/** Returns the route's path with the ids, and the query that it needs. */
export function targetOf({ method, path }: Route, ids: AgentIds): string {
  return fill(path, ids) + (method === "GET" && path === "/store/items" ? "?key=k" : "");
}

/** Creates a cron. The SDK's type calls the result a run. */
async function newCron(client: Client, assistantId: string): Promise<string> {
  const created: object = await client.crons.create(assistantId, { schedule: "0 0 1 1 *" });
  return "cron_id" in created ? String(created.cron_id) : "";
}

/** Returns a body that the route accepts. */
export function bodyFor({ method, path }: Route, ids: AgentIds): object | undefined {
  if (path === "/store/items" && method !== "GET") {
    return { namespace: ["n"], key: "k", ...(method === "PUT" ? { value: {} } : {}) };
  }
  if (method === "GET" || method === "DELETE") return undefined;
  if (/\/runs(\/stream|\/wait)?$/.test(path)) return { assistant_id: "branching", input: {} };
  if (path.endsWith("/commands")) return { id: 1, method: "state.get" };
  if (path.endsWith("/stream/events")) return { channels: ["values"] };
  if (path === "/runs/batch") return [{ assistant_id: "branching", input: {} }];
  if (path === "/threads/prune") return { thread_ids: [ids.thread_id] };
  if (path === "/runs/cancel") return { thread_id: ids.thread_id, run_ids: [ids.run_id] };
  if (path.startsWith("/a2a/")) {
    const params = { id: `${ids.thread_id}:${ids.run_id}` };
    return { jsonrpc: "2.0", id: 1, method: "tasks/get", params };
  }
  if (path.endsWith("/runs/crons")) return { assistant_id: "branching", schedule: "0 0 1 1 *" };
  if (path === "/assistants") return { graph_id: "branching" };
  if (path.endsWith("/state/checkpoint")) {
    return { checkpoint: { checkpoint_id: ids.checkpoint_id } };
  }
  if (path.endsWith("/latest")) return { version: 1 };
  return {};
}

/** Removes the ids from an answer. Two answers are equal then if they do not reveal whose ids were sent. */
export function withoutIds(answer: { status: number; body: unknown }, ids: AgentIds) {
  let text = JSON.stringify(answer.body);
  for (const id of [...Object.values(ids), MISSING_ID]) text = text.replaceAll(id, "<id>");
  return { status: answer.status, body: text };
}

/** Sorts routes so that each finds the resource that it names: deletions last, and a run's before its thread's. */
export function deletionsLast(routes: readonly Route[]): Route[] {
  const rank = ({ method, path }: Route) => (method === "DELETE" ? 1000 - path.length : 0);
  return routes.toSorted((left, right) => rank(left) - rank(right));
}

/** Returns the routes that follow or stop runs in flight, by method and path. */
export function routesOfRuns(onThread: Run, stateless: Run): [method: string, path: string][] {
  const base = `/threads/${onThread.thread_id}/runs/${onThread.run_id}`;
  return [
    ["GET", `${base}/join?cancel_on_disconnect=1`],
    ["GET", `${base}/stream`],
    ["POST", `${base}/cancel`],
    ["DELETE", base],
    ["GET", `/runs/${stateless.run_id}/join`],
    ["GET", `/runs/${stateless.run_id}/stream`],
    ["POST", `/threads/${stateless.thread_id}/runs/${stateless.run_id}/cancel`],
  ];
}
