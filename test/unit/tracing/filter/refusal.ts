import { FilterError, parseFilter } from "../../../../src/tracing/filter/filter.ts";

/** Returns the error with which a text is refused. */
export function refusal(text: string): FilterError {
  try {
    parseFilter(text);
  } catch (error) {
    if (error instanceof FilterError) return error;
    throw error;
  }
  throw new Error(`accepted: ${text}`);
}
