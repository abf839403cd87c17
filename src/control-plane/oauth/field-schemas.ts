import { z } from "@hono/zod-openapi";

/** A name or an id that somebody else has chosen. */
export function plainString(max = 255) {
  return z
    .string()
    .min(1)
    .max(max)
    .regex(/^[^\p{Cc}\p{Cs}]*$/u, "String should have no control characters");
}

/** As RFC 6749 has them, but for the comma, which some servers separate them with. */
export const scopeString = z
  .string()
  .min(1)
  .max(500)
  .regex(
    /^[\u0021\u0023-\u002b\u002d-\u005b\u005d-\u007e]*$/,
    "String should be one scope, without blanks, commas, quotes and backslashes",
  );
