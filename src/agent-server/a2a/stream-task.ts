import type { Artifact, StreamResponse } from "@a2a-js/sdk";
import { EventSourceParserStream } from "eventsource-parser/stream";
import { isObject } from "../../lib/json.ts";
import type { AgentCall } from "../agent-call.ts";
import type { Assistant } from "../assistants/assistant-json.ts";
import { findTask, readEndedTask } from "./read-task.ts";
import type { BegunTask } from "./send-message.ts";
import {
  isAgents,
  isAtWork,
  needsInput,
  newArtifact,
  textOfMessage,
  textPart,
  toStatus,
  toTask,
} from "./task-json.ts";
import { toTaskId } from "./task-id.ts";
import { TaskRefusal, taskNotFound } from "./task-refusal.ts";

type Said = { artifactId: string; text: string };

/** Yields the progress of a task: the task, the agent's text as it is produced, and the final status. */
export async function* streamTask(
  call: AgentCall,
  assistant: Assistant,
  { ids, run, stream }: BegunTask,
): AsyncGenerator<StreamResponse, void, undefined> {
  const about = { taskId: toTaskId(ids), contextId: ids.threadId, metadata: undefined };
  yield { payload: { $case: "task", value: toTask({ ids, run, values: null }) } };
  let last: Said = { artifactId: "", text: "" };
  for await (const said of saidIn(stream)) {
    const append = last.artifactId === said.artifactId;
    last = { ...said, text: append ? last.text + said.text : said.text };
    const artifact = newArtifact(said.artifactId, textPart(said.text));
    yield {
      payload: { $case: "artifactUpdate", value: { ...about, artifact, append, lastChunk: false } },
    };
  }
  const state = await readEndedTask(await findTask(call, assistant, about.taskId));
  const [artifact] = toTask(state, 0).artifacts;
  if (artifact !== undefined && !isSaid(artifact, last)) {
    const value = { ...about, artifact, append: false, lastChunk: true };
    yield { payload: { $case: "artifactUpdate", value } };
  }
  yield { payload: { $case: "statusUpdate", value: { ...about, status: toStatus(state) } } };
}

/** Yields the events of a running task from its beginning, or only the task and its status if it waits for input. */
export async function* subscribeToTask(
  call: AgentCall,
  assistant: Assistant,
  taskId: string,
): AsyncGenerator<StreamResponse, void, undefined> {
  const found = await findTask(call, assistant, taskId);
  const { ids, run, thread } = found;
  const state = await readEndedTask(found);
  if (isAtWork(run)) {
    const query = { last_event_id: -1, modes: null, cancel_on_disconnect: false };
    const followed = await thread.streamRun(run.run_id, query);
    if (!followed.ok) throw taskNotFound();
    yield* streamTask(call, assistant, { ids, run, stream: followed.value });
    return;
  }
  if (!needsInput(state)) {
    const text = `The task ${toTaskId(ids)} has ended: get it`;
    throw new TaskRefusal("unsupported_operation", text);
  }
  const about = { taskId: toTaskId(ids), contextId: ids.threadId, metadata: undefined };
  yield { payload: { $case: "task", value: toTask(state) } };
  yield { payload: { $case: "statusUpdate", value: { ...about, status: toStatus(state) } } };
}

/** Whether the pieces already sent to the client make up the whole artifact. */
function isSaid({ artifactId, parts }: Artifact, last: Said) {
  const [content, ...others] = parts.map((part) => part.content);
  return last.artifactId === artifactId && content?.value === last.text && others.length === 0;
}

/** Yields the pieces of the model's text from a run's events. */
async function* saidIn(stream: ReadableStream<Uint8Array> | null): AsyncGenerator<Said, void> {
  if (stream === null) return;
  const events = stream
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  for await (const { event, data } of events) {
    if (event !== "messages") continue;
    const [message]: unknown[] = JSON.parse(data);
    if (!isObject(message) || !isAgents(message)) continue;
    const { id } = message;
    const text = textOfMessage(message);
    if (typeof id === "string" && text !== "") yield { artifactId: id, text };
  }
}
