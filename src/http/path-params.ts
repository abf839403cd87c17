import { z } from "@hono/zod-openapi";

/** An id in a path or a body. It is accepted in either case and converted to lower case. */
export function uuidParam() {
  return z.guid().toLowerCase();
}
