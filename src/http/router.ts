import { OpenAPIHono } from "@hono/zod-openapi";
import type { AppEnv } from "./app-types.ts";
import { ApiError } from "./errors.ts";
import { toValidationDetail } from "./validation-detail.ts";

const SOURCE_OF = {
  json: "body",
  form: "body",
  query: "query",
  param: "path",
  header: "header",
  cookie: "header",
} as const;

/** By which path a request is routed; `env` are the Worker's bindings. */
export type PathOf = (request: Request, options?: { env?: object }) => string;

/**
 * A router whose `openapi()` routes answer a request that does not fit their schema with a
 * "validation" error. Bodies are to be `z.strictObject`s, so that an unknown field is refused.
 */
export function createRouter(options: { getPath?: PathOf } = {}): OpenAPIHono<AppEnv> {
  return new OpenAPIHono<AppEnv>({
    ...options,
    defaultHook: (result) => {
      if (result.success) return;
      const source = SOURCE_OF[result.target];
      const input = "data" in result ? result.data : undefined;
      const detail = toValidationDetail(source, result.error.issues, input);
      throw new ApiError("validation", "Validation failed", { detail });
    },
  });
}
