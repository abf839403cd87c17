import { answerOf, send } from "./http.ts";
import type { TestServer } from "./server.ts";

export type Route = { method: string; path: string };

/** Values for the parameters of a path. */
export type PathIds = Record<string, string>;

type Document = { paths: Record<string, Record<string, { requestBody?: unknown }>> };

/** Returns all routes that the server documents. */
export async function documentedRoutes(server: Pick<TestServer, "fetch">): Promise<Route[]> {
  const response = await server.fetch("/openapi.json");
  const { paths } = (await response.json()) as Document;
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => ({ method: method.toUpperCase(), path })),
  );
}

/**
 * Streams that do not end, and commands, whose refusals have the status 200: thread-streaming-access.test.ts tests
 * them.
 */
const STREAMING = /\/(commands|stream\/events)$/;

export function answersOnce({ path }: Route): boolean {
  return !STREAMING.test(path);
}

/** Returns the status of a route for a resource that is missing or hidden. */
export function statusOfMissing({ path }: Route): number {
  return path === "/threads/{thread_id}/copy" ? 409 : 404;
}

/** Returns the documented routes that name a resource by its id, and answer once. */
export async function routesWithIds(server: TestServer): Promise<Route[]> {
  const routes = await documentedRoutes(server);
  return routes.filter((route) => route.path.includes("{") && answersOnce(route));
}

/**
 * Returns a route's answer with the ids removed from its text: two answers are equal if they do not reveal whose ids
 * were sent.
 */
export async function answerWithout(
  server: TestServer,
  { method, path }: Route,
  ids: PathIds,
  request: { apiKey: string; body: unknown },
): Promise<{ status: number; body: string }> {
  const target = fill(path, ids);
  const hasBody = method !== "GET" && method !== "DELETE";
  const body = hasBody ? request.body : undefined;
  const answer = await answerOf(
    send(server, method, target, body, { "x-api-key": request.apiKey }),
  );
  let text = JSON.stringify(answer.body);
  for (const [name, id] of Object.entries(ids)) text = text.replaceAll(id, `{${name}}`);
  return { status: answer.status, body: text };
}

export function fill(path: string, ids: PathIds): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const id = ids[name];
    if (id === undefined) throw new Error(`There is no id for {${name}} of ${path}`);
    return id;
  });
}
