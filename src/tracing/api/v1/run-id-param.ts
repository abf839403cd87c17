import { z } from "@hono/zod-openapi";
import { parseUuid } from "../../model/uuid.ts";

/** A run's id in a path: a UUID with dashes or without, lower case and with dashes from here on. */
export function runIdParam() {
  return z
    .string()
    .transform((text, ctx): string => {
      const id = parseUuid(text);
      if (id !== null) return id;
      ctx.addIssue({
        code: "custom",
        message: "Input should be a valid UUID",
        params: { type: "uuid_parsing" },
      });
      return z.NEVER;
    })
    .openapi({ type: "string", format: "uuid" });
}
