import type { JsonText } from "../lib/json-answer.ts";
import type { AppContext } from "./app-types.ts";

/** JSON that is text already: large values are not parsed and written again. */
export function jsonResponse(c: AppContext, json: JsonText): Response {
  c.header("Content-Type", "application/json");
  return c.body(json);
}
