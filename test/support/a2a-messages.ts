import { type Part, Role, type SendMessageRequest, type Task } from "@a2a-js/sdk";

export type Ids = { contextId?: string; taskId?: string };

export type Content = NonNullable<Part["content"]>;

let messages = 0;

/** Returns a user's message as a client of version 1.0 sends it. */
export function message(parts: Part[], { contextId = "", taskId = "" }: Ids = {}) {
  messages += 1;
  const none = { metadata: undefined, extensions: [], referenceTaskIds: [] };
  const messageId = `message-${messages}`;
  const sent = { messageId, contextId, taskId, role: Role.ROLE_USER, parts, ...none };
  return {
    tenant: "",
    configuration: undefined,
    metadata: undefined,
    message: sent,
  } satisfies SendMessageRequest;
}

export function text(value: string, ids: Ids = {}) {
  return message([part({ $case: "text", value })], ids);
}

export function data(value: object, ids: Ids = {}) {
  return message([part({ $case: "data", value })], ids);
}

export function part(content: Content, file: { filename?: string; mediaType?: string } = {}): Part {
  return { content, metadata: undefined, filename: "", mediaType: "", ...file };
}

/** Returns the task of an answer, which must not be a message. */
export function taskOf(answer: Task | { messageId: string }): Task {
  if ("messageId" in answer) throw new Error("The answer is a message");
  return answer;
}

/** Returns the contents of a task's artifacts. */
export function partsOf(task: Task): unknown[] {
  return task.artifacts.flatMap(({ parts }) =>
    parts.map(({ content }) => content?.value as unknown),
  );
}
