import type { Principal } from "../lib/principal.ts";
import type { LoadModule } from "./graph-registry.ts";
import { NO_ROUTE_HEADER } from "./http-info.ts";
import { loadOnce } from "./load-once.ts";
import type { GraphProblem } from "./protocol.ts";

/** The build's form of `http.app` in a project's `langgraph.json`. */
export type HttpAppDefinition = { load: LoadModule; exportName: string };

/** What an app receives besides the request: its variables, and a way to keep working after the response. */
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
 * Returns a function that loads the project's app and returns it, or null when the project has none. The
 * app's module is evaluated on the first call. The returned promise rejects when the export is not an app, or
 * when its module throws.
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
 * Returns the app's response. When the app or its module throws, the error is logged and the response is a
 * 500 without details, since the failure is the project's and not the platform's.
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

/**
 * Converts the error of an app that does not load into a problem in the form of graphs' problems; `http.app`
 * stands in place of a graph id.
 */
export function toProblem(error: unknown): GraphProblem[] {
  const { message, stack } = error instanceof Error ? error : { message: String(error) };
  const text = message.startsWith(`"http.app"`) ? message : `"http.app" does not load: ${message}`;
  return [{ graph_id: "http.app", message: text, stack }];
}

/**
 * The variables that an app finds in its `env`: the deployment's variables, or those of PROJECT_ENV outside a
 * deployment.
 */
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

/** The part of Hono's class that is used here. A project brings its own copy of Hono. */
type HonoApp = {
  fetch: AppFetch;
  router: { match: (method: string, path: string) => MatchedRoutes };
  notFound: (handler: () => Response) => unknown;
};

/** Handlers with their parameters, followed by what the router returns besides them. */
type MatchedRoutes = [handlers: unknown[], ...rest: unknown[]];

type HonoContext = { req: { raw: Request }; set: (name: string, value: unknown) => void };

type AppFetch = (request: Request, env: object, context: object) => unknown;

/** Throws when the export is neither a Hono app nor an object with a function `fetch`. */
export function toHttpApp(exported: unknown): HttpApp {
  if (isHono(exported)) return honoApp(exported);
  if (hasFetch(exported)) {
    return (request, _principal, context) => ask(exported, request, context);
  }
  throw new Error('"http.app" must name a Hono app, or an object with a function "fetch"');
}

/**
 * Mounts the app as the reference server does: the app handles its own routes and errors, its handlers find
 * the user as `auth`, and a response for an unknown route carries a header. The user is set by a middleware
 * that the wrapped router returns first, because a middleware added to the app itself would run after all
 * existing ones.
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
  throw new Error('"http.app" returned a value that is not a Response');
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
