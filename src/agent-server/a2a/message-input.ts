import { type Message, Role } from "@a2a-js/sdk";
import { isObject, type JsonObject } from "../../lib/json.ts";
import type { CommandSpec } from "../../graph-runtime/protocol.ts";
import { toFileBlock } from "./file-blocks.ts";
import { TaskRefusal } from "./task-refusal.ts";

/**
 * Returns the input of a graph: the message's data parts merged, and its text and files as a message, which
 * requires that the graph's input has `messages`.
 */
export function toInput(message: Message, hasMessages: boolean): JsonObject {
  const { texts, files, data } = contentOf(message);
  const input: JsonObject = Object.assign({}, ...data);
  if (!isSaid(message)) return input;
  if (!hasMessages) {
    throw new TaskRefusal(
      "unsupported_content",
      "The graph takes no text and no files, because its input has no messages: send data",
    );
  }
  const role = message.role === Role.ROLE_AGENT ? "assistant" : "user";
  const text = texts.join("\n");
  const blocks = [...(texts.length === 0 ? [] : [{ type: "text", text }]), ...files];
  const sent = { role, content: files.length === 0 ? text : blocks, id: message.messageId };
  const { messages: before = [] } = input;
  return { ...input, messages: [...(Array.isArray(before) ? before : [before]), sent] };
}

/** Whether the message has text or files, which become a message in the graph's input. */
export function isSaid({ parts }: Message): boolean {
  return parts.some(({ content }) => content?.$case !== "data");
}

/** Returns the command that answers an interrupt: with `resume` from a data part, else the data, else the text. */
export function toResume(message: Message): CommandSpec {
  const { texts, files, data } = contentOf(message);
  if (files.length > 0) {
    throw new TaskRefusal(
      "unsupported_content",
      "A task that waits for input takes text or data, but no files",
    );
  }
  const merged: JsonObject = Object.assign({}, ...data);
  if ("resume" in merged) return { resume: merged["resume"] };
  return { resume: data.length > 0 ? merged : texts.join("\n") };
}

type Content = { texts: string[]; files: JsonObject[]; data: JsonObject[] };

function contentOf({ parts }: Message): Content {
  const [texts, files, data]: [string[], JsonObject[], JsonObject[]] = [[], [], []];
  for (const part of parts) {
    const { content } = part;
    const file = toFileBlock(part);
    if (file !== null) files.push(file);
    else if (content?.$case === "text") texts.push(content.value);
    else if (content?.$case === "data" && isObject(content.value)) data.push(content.value);
    else if (content?.$case === "data") {
      throw new TaskRefusal("invalid_params", "The data of a part must be an object");
    } else {
      throw new TaskRefusal("unsupported_content", "Parts must be text, data or files");
    }
  }
  return { texts, files, data };
}
