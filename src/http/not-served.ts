import { z } from "@hono/zod-openapi";

/**
 * A member that the API's clients know and that is not served here. Ignored like one that nobody
 * knows, it would leave something undone, or done otherwise than asked, without a word: so it is
 * refused, by a sentence that says what is not served. Null and false ask for nothing.
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
