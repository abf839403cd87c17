import type { Leaf, Micros, PayloadFacts, PayloadField } from "../../model/run-write.ts";
import { usageOf } from "../../usage/extract.ts";
import { leavesOf } from "../../model/leaves.ts";
import { previewOf } from "./preview.ts";
import { parseTime } from "../../../lib/parse-time.ts";

/** Metadata keys by which clients say that traces belong together; the first that is set counts. */
const THREAD_KEYS = ["session_id", "thread_id", "conversation_id"];

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

/** The leaves of a run's `extra.metadata`. */
export function metadataOf(extra: unknown): Leaf[] {
  const metadata = fieldOf(extra, "metadata");
  // A lone value has no key to ask for.
  return typeof metadata === "object" ? leavesOf(metadata).filter(([key]) => key !== "") : [];
}

/** The thread that a run's `extra.metadata` names. */
export function threadIdOf(extra: unknown): string | null {
  const metadata = fieldOf(extra, "metadata");
  for (const key of THREAD_KEYS) {
    const id = fieldOf(metadata, key);
    if (typeof id === "number") return String(id);
    if (typeof id === "string" && id !== "") return id;
  }
  return null;
}

function fieldOf(value: unknown, field: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, field) : undefined;
}
