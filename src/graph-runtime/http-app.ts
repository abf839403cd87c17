import type { Principal } from "../lib/principal.ts";
import type { LoadModule } from "./graph-registry.ts";
import { NO_ROUTE_HEADER } from "./http-info.ts";
import { loadOnce } from "./load-once.ts";
import type { GraphProblem } from "./protocol.ts";

/** What a build makes of `http.app` in a project's `langgraph.json`. */
export type HttpAppDefinition = { load: LoadModule; exportName: string };

/** What an app gets beside the request: variables, and a way to go on after the answer. */
export type HttpAppContext = {
  env: Record<string, string>;
  waitUntil: (work: Promise<unknown>) => void;
};

export type HttpApp = (
  request: Request,
  principal: Principal | null,
  context: HttpAppContext,
) => Promise<Response>;

/**
 * Gives the app of a project, whose module is evaluated when it is first asked for; null for a project
 * that has none. Rejects when the export is no app, or its module fails.
 */
export function appLoader(
  definition: HttpAppDefinition | undefined,
  keepAlive: (loading: Promise<unknown>) => void,
): () => Promise<HttpApp | null> {
  if (definition === undefined) return () => Promise.resolve(null);
  return loadOnce(async () => {
    const module = await definition.load();
    return toHttpApp(await module[definition.exportName]);
  }, keepAlive);
}

/**
 * What the app answers. What it throws, or its module, is told in the log and is an answer without a word of
 * it: the project's failure is none of the platform's.
 */
export async function answerFromApp(
  loadApp: () => Promise<HttpApp | null>,
  request: Request,
  { principal, ...context }: HttpAppContext & { principal: Principal | null },
): Promise<Response> {
  try {
    const app = await loadApp();
    if (app === null) throw new Error("The project has no app of its own");
    return await app(request, principal, context);
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    console.error({ event: "http_app_failed", error: text });
    return Response.json({ detail: "Internal server error" }, { status: 500 });
  }
}

/** Why an app does not load, among the problems of graphs: `http.app` stands in the place of a graph's id. */
export function toProblem(error: unknown): GraphProblem[] {
  const { message, stack } = error instanceof Error ? error : { message: String(error) };
  const text = message.startsWith(`"http.app"`) ? message : `"http.app" does not load: ${message}`;
  return [{ graph_id: "http.app", message: text, stack }];
}

/** The variables that an app finds in its `env`: a deployment's own, else those of the project. */
export function variablesOf(env: object): Record<string, string> {
  const { PROJECT_ENV, THREADWORKS_AGENT_SERVER } = env as Record<string, unknown>;
  const text = typeof PROJECT_ENV === "string" && PROJECT_ENV !== "" ? PROJECT_ENV : "{}";
  const own: unknown = THREADWORKS_AGENT_SERVER === undefined ? JSON.parse(text) : env;
  return Object.fromEntries(
    Object.entries(Object(own)).filter((entry): entry is [string, string] => {
      return typeof entry[1] === "string";
    }),
  );
}

/** What of Hono's class is used here: a project brings its own copy of it. */
type HonoApp = {
  fetch: AppFetch;
  router: { match: (method: string, path: string) => MatchedRoutes };
  notFound: (handler: () => Response) => unknown;
};

/** Handlers with their parameters, and what a router adds to them. */
type MatchedRoutes = [handlers: unknown[], ...rest: unknown[]];

type HonoContext = { req: { raw: Request }; set: (name: string, value: unknown) => void };

type AppFetch = (request: Request, env: object, context: object) => unknown;

/** Throws a sentence for what is no app. */
export function toHttpApp(exported: unknown): HttpApp {
  if (isHono(exported)) return honoApp(exported);
  if (hasFetch(exported)) {
    return (request, _principal, context) => ask(exported, request, context);
  }
  throw new Error('"http.app" must name a Hono app, or an object with a function "fetch"');
}

/**
 * The app as the reference server mounts it: its routes and its handling of errors are its own, handlers find
 * the user as `auth`, and what it has no route for is told by a header. The user is set by a middleware that
 * the router gives first, because one that is added to an app comes after all that it has.
 */
function honoApp(app: HonoApp): HttpApp {
  const principals = new WeakMap<Request, Principal>();
  const setUser = async (c: HonoContext, next: () => Promise<void>): Promise<void> => {
    const principal = principals.get(c.req.raw);
    if (principal !== undefined) {
      c.set("auth", { user: principal.user, scopes: principal.permissions });
    }
    await next();
  };
  const route = { basePath: "/", path: "/*", method: "ALL", handler: setUser };
  const { router } = app;
  app.router = Object.assign(Object.create(router), {
    match: (method: string, path: string): MatchedRoutes => {
      const [handlers, ...rest] = router.match(method, path);
      return [[[[setUser, route], {}], ...handlers], ...rest];
    },
  });
  app.notFound(() => new Response(null, { status: 404, headers: { [NO_ROUTE_HEADER]: "1" } }));
  return (request, principal, context) => {
    if (principal !== null) principals.set(request, principal);
    return ask(app, request, context);
  };
}

async function ask(
  app: { fetch: AppFetch },
  request: Request,
  { env, waitUntil }: HttpAppContext,
): Promise<Response> {
  const context = { waitUntil, passThroughOnException: () => {}, props: {} };
  const answer = await app.fetch(request, env, context);
  if (answer instanceof Response) return answer;
  throw new Error('"http.app" answered with something that is no Response');
}

function isHono(value: unknown): value is HonoApp {
  if (!hasFetch(value)) return false;
  const router: unknown = Reflect.get(value, "router");
  const hasRouter = typeof router === "object" && router !== null && "match" in router;
  return hasRouter && typeof Reflect.get(value, "notFound") === "function";
}

function hasFetch(value: unknown): value is { fetch: AppFetch } {
  const isHolder = (typeof value === "object" && value !== null) || typeof value === "function";
  return isHolder && typeof Reflect.get(value, "fetch") === "function";
}
