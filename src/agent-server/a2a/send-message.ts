import type { Message, SendMessageRequest } from "@a2a-js/sdk";
import { v7 as uuidv7 } from "uuid";
import type { CommandSpec, StreamMode } from "../../graph-runtime/protocol.ts";
import { isUuid } from "../../lib/uuid.ts";
import type { AgentCall } from "../agent-call.ts";
import type { Assistant } from "../assistants/assistant-json.ts";
import { knownSchemas, propertiesOf } from "../assistants/known-schemas.ts";
import type { Follow } from "../threads/contract/run-request.ts";
import { prepareRun, startRun } from "../threads/new-run.ts";
import { isSaid, toInput, toResume } from "./message-input.ts";
import { findTask, readEndedTask, TASK_MEMBER } from "./read-task.ts";
import { needsInput, type ShownRun } from "./task-json.ts";
import { type TaskIds, toTaskId } from "./task-id.ts";
import { TaskRefusal, taskNotFound } from "./task-refusal.ts";

/** A message, and the command that may replace its content. */
export type SentMessage = SendMessageRequest & { command: CommandSpec | null };

export type BegunTask = { ids: TaskIds; run: ShownRun; stream: ReadableStream<Uint8Array> | null };

/**
 * Starts the run for a message: the first run of a new task, or a run that answers an interrupted task. The run
 * continues when its client disconnects, because the task can be read later.
 */
export async function beginRun(
  call: AgentCall,
  assistant: Assistant,
  sent: SentMessage,
  follow: Follow,
): Promise<BegunTask> {
  const { message } = sent;
  if (message === undefined) throw new TaskRefusal("invalid_params", "message is missing");
  const task = await taskOf(call, assistant, message);
  const command = sent.command ?? (task === null ? null : toResume(message));
  const input = command === null ? await inputOf(call, assistant, message) : undefined;
  const body = {
    assistant_id: assistant.assistant_id,
    ...(command === null ? { input } : { command }),
    metadata: task === null ? {} : { [TASK_MEMBER]: task.runId },
    stream_mode: ["messages-tuple"] satisfies StreamMode[],
    on_disconnect: "continue" as const,
    // If two messages answer the same interrupt, the second one is rejected.
    ...(task === null ? {} : { multitask_strategy: "reject" as const }),
  };
  const threadId = task?.threadId ?? threadOf(message);
  const options = { follow, threadId, createThread: task === null, temporary: false };
  const { run, stream } = await startRun(await prepareRun(call, body, options));
  return { ids: task ?? { threadId, runId: run.run_id }, run, stream };
}

/**
 * Returns the task that a message is sent to, which must be waiting for input; null if the message starts a new
 * task.
 */
async function taskOf(
  call: AgentCall,
  assistant: Assistant,
  { taskId, contextId }: Message,
): Promise<TaskIds | null> {
  if (taskId === "") return null;
  const found = await findTask(call, assistant, taskId);
  if (contextId !== "" && contextId.toLowerCase() !== found.ids.threadId) throw taskNotFound();
  if (needsInput(await readEndedTask(found))) return found.ids;
  throw new TaskRefusal(
    "unsupported_operation",
    `The task ${toTaskId(found.ids)} does not wait for a message: send it without taskId`,
  );
}

function threadOf({ contextId }: Message): string {
  if (contextId === "") return uuidv7();
  if (isUuid(contextId)) return contextId.toLowerCase();
  throw new TaskRefusal("invalid_params", "message.contextId must be a UUID");
}

async function inputOf(call: AgentCall, assistant: Assistant, message: Message): Promise<unknown> {
  if (!isSaid(message)) return toInput(message, false);
  const { input } = await knownSchemas(call, assistant);
  // A graph without a schema may take messages; if it does not, its own code reports the error.
  return toInput(message, input === null || "messages" in propertiesOf(input));
}
