import { OpenAPIHono, type RouteConfig, z } from "@hono/zod-openapi";
import type { AppContext, AppEnv } from "./app-types.ts";
import { ApiError } from "../lib/api-error.ts";
import { noteIgnored } from "./ignored-fields.ts";
import { tolerant, type UnknownMembers } from "../lib/unknown-members.ts";
import { toValidationDetail } from "./validation-detail.ts";
import type { Hono } from "hono";

const SOURCE_OF = {
  json: "body",
  form: "body",
  query: "query",
  param: "path",
  header: "header",
  cookie: "header",
} as const;

/** Returns the path by which a request is routed. `env` has the Worker's bindings. */
type PathOf = (request: Request, options?: { env?: object }) => string;

/** The query schema of a route without query parameters. */
const NO_QUERY = tolerant(z.strictObject({}));

/**
 * Creates a router whose `openapi()` routes throw a "validation" error for a request that does not match their
 * schema. Members that a `z.strictObject` in the schema of a query or a body does not define are removed from the
 * request before validation, and recorded for the response.
 */
export function createRouter(options: { getPath?: PathOf } = {}): OpenAPIHono<AppEnv> {
  const router = new OpenAPIHono<AppEnv>({
    ...options,
    defaultHook: (result, c) => {
      if ("ignored" in result) noteIgnored(c, result.ignored as UnknownMembers[]);
      if (result.success) return;
      const source = SOURCE_OF[result.target];
      const input = "data" in result ? result.data : undefined;
      const detail = toValidationDetail(source, result.error.issues, input);
      throw new ApiError("validation", "Validation failed", { detail });
    },
  });
  const { openapi } = router;
  router.openapi = (route, handler, hook) => {
    // The original route is registered, because the document identifies schemas by identity.
    router.openAPIRegistry.registerPath(route);
    const validated = { ...route, request: tolerantRequest(route), hide: true };
    return openapi(validated as typeof route, handler, hook);
  };
  return router;
}

type Content = NonNullable<NonNullable<RouteConfig["request"]>["body"]>["content"];

/** Returns the schemas to validate a request against: the same ones, made to ignore unknown members. */
function tolerantRequest({ request = {} }: RouteConfig): RouteConfig["request"] {
  const { query, body } = request;
  return {
    ...request,
    query: query === undefined ? NO_QUERY : tolerant(query),
    ...(body === undefined ? {} : { body: { ...body, content: tolerantContent(body.content) } }),
  };
}

function tolerantContent(content: Content): Content {
  return Object.fromEntries(
    Object.entries(content).map(([type, media]) => {
      const schema: unknown = media !== undefined && "schema" in media ? media.schema : undefined;
      return [type, schema instanceof z.ZodType ? { ...media, schema: tolerant(schema) } : media];
    }),
  );
}

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/**
 * Returns the error to throw when no route matched: a 405 when the path exists with another method, else a 404.
 */
export function noRoute(app: Pick<Hono<AppEnv>, "router">, c: AppContext): ApiError {
  const allowed = METHODS.filter((method) => hasRoute(app, method, c.req.path));
  if (allowed.length === 0) return new ApiError("not_found", "Not Found");
  c.header("allow", allowed.join(", "));
  return new ApiError("method_not_allowed", "Method Not Allowed");
}

/** Whether a route, not only middleware, matches a routed path. */
export function hasRoute(app: Pick<Hono<AppEnv>, "router">, method: string, path: string): boolean {
  const [matches] = app.router.match(method, path);
  // Middleware is registered for all methods.
  return matches.some(([[, route]]) => route.method !== "ALL");
}
