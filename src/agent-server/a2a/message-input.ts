import { type Message, Role } from "@a2a-js/sdk";
import { isObject, type JsonObject } from "../../lib/json.ts";
import type { CommandSpec } from "../../graph-runtime/protocol.ts";
import { TaskRefusal } from "./task-refusal.ts";

/** The input of a graph: its data parts merged, and its text as a message, for which the graph has to have `messages`. */
export function toInput(message: Message, hasMessages: boolean): JsonObject {
  const { texts, data } = contentOf(message);
  const input: JsonObject = Object.assign({}, ...data);
  if (texts.length === 0) return input;
  if (!hasMessages) {
    throw new TaskRefusal(
      "unsupported_content",
      "The graph takes no text, because its input has no messages: send data",
    );
  }
  const role = message.role === Role.ROLE_AGENT ? "assistant" : "user";
  const sent = { role, content: texts.join("\n"), id: message.messageId };
  const { messages: before = [] } = input;
  return { ...input, messages: [...(Array.isArray(before) ? before : [before]), sent] };
}

/** What an interrupt is answered with: `resume` of a data part, or the data, or the text. */
export function toResume(message: Message): CommandSpec {
  const { texts, data } = contentOf(message);
  const merged: JsonObject = Object.assign({}, ...data);
  if ("resume" in merged) return { resume: merged["resume"] };
  return { resume: data.length > 0 ? merged : texts.join("\n") };
}

function contentOf({ parts }: Message): { texts: string[]; data: JsonObject[] } {
  const [texts, data]: [string[], JsonObject[]] = [[], []];
  for (const { content } of parts) {
    if (content?.$case === "text") texts.push(content.value);
    else if (content?.$case === "data" && isObject(content.value)) data.push(content.value);
    else if (content?.$case === "data") {
      throw new TaskRefusal("invalid_params", "The data of a part must be an object");
    } else {
      throw new TaskRefusal("unsupported_content", "Parts must be text or data");
    }
  }
  return { texts, data };
}
