import { z } from "@hono/zod-openapi";
import { parseTime } from "../lib/time.ts";

/** A time in a body or a query. Its value is in microseconds since the epoch; a text without a zone is in UTC. */
export function timeValue() {
  return z
    .union([z.string(), z.number()])
    .transform((value, ctx): number => {
      const micros = parseTime(value);
      if (micros !== null) return micros;
      ctx.addIssue({
        code: "custom",
        message: "Input should be a valid datetime",
        params: { type: "datetime_parsing" },
      });
      return z.NEVER;
    })
    .openapi({ type: "string", format: "date-time" });
}
