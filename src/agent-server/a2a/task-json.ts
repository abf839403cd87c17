import {
  type Artifact,
  type Message,
  type Part,
  Role,
  type Task,
  TaskState,
  type TaskStatus,
} from "@a2a-js/sdk";
import { isObject, type JsonObject } from "../../lib/json.ts";
import type { Run } from "../threads/contract/thread-json.ts";
import { filesOf } from "./file-blocks.ts";
import { MAX_HISTORY } from "./schemas.ts";
import { type TaskIds, toTaskId } from "./task-id.ts";

const STATE_OF: Record<Run["status"], TaskState> = {
  pending: TaskState.TASK_STATE_SUBMITTED,
  running: TaskState.TASK_STATE_WORKING,
  success: TaskState.TASK_STATE_COMPLETED,
  error: TaskState.TASK_STATE_FAILED,
  timeout: TaskState.TASK_STATE_FAILED,
  interrupted: TaskState.TASK_STATE_CANCELED,
};

export type ShownRun = Pick<Run, "run_id" | "assistant_id" | "status" | "updated_at" | "metadata">;

/**
 * A run in a list. It also has the flag that it stopped at an interrupt, so that its values need not be read for
 * that.
 */
export type ListedRun = ShownRun & { stopped: boolean };

/** Returns the state that the run's task has in a list. */
export function listedState({ status, stopped }: ListedRun): TaskState {
  return stopped ? TaskState.TASK_STATE_INPUT_REQUIRED : STATE_OF[status];
}

/** A run and, when it has ended, its final values. */
export type EndedTask = { ids: TaskIds; run: ShownRun; values: unknown };

function stateOf({ run, values }: Omit<EndedTask, "ids">): TaskState {
  const state = STATE_OF[run.status];
  return state === TaskState.TASK_STATE_COMPLETED && interruptsOf(values).length > 0
    ? TaskState.TASK_STATE_INPUT_REQUIRED
    : state;
}

export function isAtWork(run: ShownRun): boolean {
  return run.status === "pending" || run.status === "running";
}

export function needsInput(state: Omit<EndedTask, "ids">): boolean {
  return stateOf(state) === TaskState.TASK_STATE_INPUT_REQUIRED;
}

export function toTask(state: EndedTask, historyLength: number = MAX_HISTORY): Task {
  const { ids, values } = state;
  const artifact = stateOf(state) === TaskState.TASK_STATE_COMPLETED ? toArtifact(state) : null;
  const messages = messagesOf(values).flatMap((each, index) => toMessage(each, index, ids));
  return {
    id: toTaskId(ids),
    contextId: ids.threadId,
    status: toStatus(state),
    artifacts: artifact === null ? [] : [artifact],
    history: historyLength === 0 ? [] : messages.slice(-historyLength),
    metadata: undefined,
  };
}

export function toStatus(state: EndedTask): TaskStatus {
  const { ids, run, values } = state;
  const parts = [...interruptsOf(values), ...errorOf(values)];
  const message =
    parts.length === 0
      ? undefined
      : newMessage(ids, `${run.run_id}-status`, Role.ROLE_AGENT, parts);
  return { state: stateOf(state), message, timestamp: run.updated_at };
}

/** Returns the agent's last message or, if the graph has no messages, its values. */
function toArtifact({ run, values }: EndedTask): Artifact | null {
  if (!isObject(values)) return null;
  if (!Array.isArray(values["messages"])) return newArtifact(run.run_id, dataPart(values));
  const last = messagesOf(values).findLast((each) => isAgents(each) && partsOf(each).length > 0);
  return last === undefined ? null : newArtifact(artifactIdOf(last, run), ...partsOf(last));
}

export function newArtifact(artifactId: string, ...parts: Part[]): Artifact {
  const rest = { description: "", metadata: undefined, extensions: [] };
  return { artifactId, name: "response", parts, ...rest };
}

function artifactIdOf(message: JsonObject, run: ShownRun): string {
  return typeof message["id"] === "string" ? message["id"] : run.run_id;
}

/** Whether a LangChain message, or a chunk of one, comes from the model. */
export function isAgents({ type }: JsonObject): boolean {
  return type === "ai" || type === "AIMessageChunk";
}

/** The text of a message, whose content is text or a list of blocks. */
export function textOfMessage({ content }: JsonObject): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  const texts = content.map((block: unknown) => {
    if (typeof block === "string") return block;
    const text = isObject(block) && block["type"] === "text" ? block["text"] : "";
    return typeof text === "string" ? text : "";
  });
  return texts.join("");
}

/** Returns the parts of a message: its text and its files. */
function partsOf(message: JsonObject): Part[] {
  const text = textOfMessage(message);
  return [...(text === "" ? [] : [textPart(text)]), ...filesOf(message)];
}

export function textPart(text: string): Part {
  return newPart({ $case: "text", value: text });
}

function dataPart(value: unknown): Part {
  return newPart({ $case: "data", value });
}

function newPart(content: NonNullable<Part["content"]>): Part {
  return { content, metadata: undefined, filename: "", mediaType: "" };
}

function messagesOf(values: unknown): JsonObject[] {
  const messages = isObject(values) ? values["messages"] : undefined;
  return Array.isArray(messages) ? messages.filter(isObject) : [];
}

function toMessage(message: JsonObject, index: number, ids: TaskIds): Message[] {
  const parts = partsOf(message);
  const isUsers = message["type"] === "human";
  if (parts.length === 0 || !(isUsers || isAgents(message))) return [];
  const id = typeof message["id"] === "string" ? message["id"] : `${ids.runId}-${index}`;
  return [newMessage(ids, id, isUsers ? Role.ROLE_USER : Role.ROLE_AGENT, parts)];
}

function newMessage(ids: TaskIds, messageId: string, role: Role, parts: Part[]): Message {
  const none = { metadata: undefined, extensions: [], referenceTaskIds: [] };
  return { messageId, contextId: ids.threadId, taskId: toTaskId(ids), role, parts, ...none };
}

/** Returns the questions of an interrupted run, one part for each interrupt. */
function interruptsOf(values: unknown): Part[] {
  const interrupts = isObject(values) ? values["__interrupt__"] : undefined;
  if (!Array.isArray(interrupts)) return [];
  return interrupts.map((each: unknown) => {
    const value = isObject(each) ? each["value"] : each;
    return typeof value === "string" ? textPart(value) : dataPart(value ?? null);
  });
}

function errorOf(values: unknown): Part[] {
  const error = isObject(values) ? values["__error__"] : undefined;
  if (!isObject(error)) return [];
  return [textPart(`${String(error["error"])}: ${String(error["message"])}`)];
}
