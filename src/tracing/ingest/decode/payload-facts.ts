import type { Micros, PayloadFacts, PayloadField } from "../../model/run-write.ts";
import { usageOf } from "../../usage/extract.ts";
import { leavesOf } from "../../model/leaves.ts";
import { fieldOf } from "../../model/run-metadata.ts";
import { previewOf } from "./preview.ts";
import { parseTime } from "../../../lib/parse-time.ts";

/** What has to be known of a payload after its text has gone to the store. */
export function factsOf(field: PayloadField, value: unknown): PayloadFacts {
  switch (field) {
    case "inputs":
      return { inputsPreview: previewOf(value), inputLeaves: JSON.stringify(leavesOf(value)) };
    case "outputs":
      return {
        outputsPreview: previewOf(value),
        outputLeaves: JSON.stringify(leavesOf(value)),
        usage: usageOf(value),
      };
    case "events":
      return { firstTokenTime: firstTokenTime(value) };
    case "extra":
    case "serialized":
    case "error":
      return {};
  }
}

/** When the first event named `new_token` was; null when there is none, or it has no valid time. */
export function firstTokenTime(events: unknown): Micros | null {
  if (!Array.isArray(events)) return null;
  const first: unknown = events.find((event) => fieldOf(event, "name") === "new_token");
  return parseTime(fieldOf(first, "time"));
}
