import { z } from "@hono/zod-openapi";

/**
 * Makes the schema of a member that the API's clients know and that is not served here. If it were ignored like an
 * unknown member, part of the request would silently not be done, or be done differently. So it is refused with a
 * sentence that says what is not served. Null and false are accepted, because they request nothing.
 */
export function notServed(sentence: string) {
  return z
    .unknown()
    .refine((value) => value === undefined || value === null || value === false, {
      message: sentence,
      params: { type: "value_error" },
    })
    .optional()
    .openapi({ type: "null", description: sentence });
}
