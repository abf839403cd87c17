import { z } from "@hono/zod-openapi";

/** An id in a path or a body; accepted in either case, and lower case from here on. */
export function uuidParam() {
  return z.guid().toLowerCase();
}
