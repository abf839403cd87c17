import { z } from "@hono/zod-openapi";
import { uuidParam } from "../../../http/path-params.ts";
import { parseUuid } from "../../../lib/uuid.ts";

/** A query key that may be repeated; each value is used unchanged. */
export function textListParam() {
  return z
    .union([z.string(), z.array(z.string())])
    .transform((value) => (typeof value === "string" ? [value] : value))
    .openapi({ type: "array", items: { type: "string" } });
}

/** A query key that may be repeated, whose values are UUIDs. They are converted to lower case. */
export function uuidListParam() {
  const uuid = uuidParam();
  return z
    .union([z.string(), z.array(z.string())])
    .transform((value, ctx): string[] => {
      const items = typeof value === "string" ? [value] : value;
      return items.map((item, index) => {
        const parsed = uuid.safeParse(item);
        if (parsed.success) return parsed.data;
        const path = typeof value === "string" ? [] : [index];
        const params = { type: "uuid_parsing" };
        ctx.addIssue({ code: "custom", path, message: "Input should be a valid UUID", params });
        return z.NEVER;
      });
    })
    .openapi({ type: "array", items: { type: "string", format: "uuid" } });
}

/** A run's id in a path: a UUID with or without dashes, converted to lower case with dashes. */
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
