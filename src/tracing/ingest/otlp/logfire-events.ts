import { type JsonObject, listOf, objectOf } from "./attribute-access.ts";
import type { Attributes } from "./span.ts";

/**
 * Inputs and outputs of Logfire's `events` attribute, a list of `{"event.name", role, content, ...}`:
 * the last choice is the output, and everything else went to the model.
 */
export function payloadsOfLogfire(attributes: Attributes): {
  inputs: JsonObject | undefined;
  outputs: JsonObject | undefined;
} {
  const messages: JsonObject[] = [];
  let outputs: JsonObject | undefined;
  for (const item of listOf(attributes.get("events")) ?? []) {
    const event = objectOf(item);
    if (event === undefined) continue;
    const { "event.name": name, ...message } = event;
    if (name === "gen_ai.choice") outputs = message;
    else messages.push(message);
  }
  return { inputs: messages.length === 0 ? undefined : { messages }, outputs };
}
