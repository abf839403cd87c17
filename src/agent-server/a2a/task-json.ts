import type { Artifact, Message, Part, Task, TaskStatus } from "@a2a-js/sdk";
import { isObject, type JsonObject } from "../../lib/json.ts";
import type { Run } from "../threads/contract/thread-json.ts";
import { ROLE_AGENT } from "./message-input.ts";
import { MAX_HISTORY } from "./schemas.ts";
import { type TaskIds, toTaskId } from "./task-id.ts";

/** The states of the SDK's type, which is of no use at run time: the package is loaded when it is first asked for. */
const STATE = { submitted: 1, working: 2, completed: 3, failed: 4, canceled: 5, input: 6 } as const;

type State = (typeof STATE)[keyof typeof STATE];

const ROLE_USER = 1;

const STATE_OF: Record<Run["status"], State> = {
  pending: STATE.submitted,
  running: STATE.working,
  success: STATE.completed,
  error: STATE.failed,
  timeout: STATE.failed,
  interrupted: STATE.canceled,
};

export type ShownRun = Pick<Run, "run_id" | "assistant_id" | "status" | "updated_at" | "metadata">;

/** A run and, when it has ended, its final values. */
export type TaskState = { ids: TaskIds; run: ShownRun; values: unknown };

function stateOf({ run, values }: Omit<TaskState, "ids">): State {
  const state = STATE_OF[run.status];
  return state === STATE.completed && interruptsOf(values).length > 0 ? STATE.input : state;
}

export function isAtWork(run: ShownRun): boolean {
  return run.status === "pending" || run.status === "running";
}

export function needsInput(state: Omit<TaskState, "ids">): boolean {
  return stateOf(state) === STATE.input;
}

export function toTask(state: TaskState, historyLength: number = MAX_HISTORY): Task {
  const { ids, values } = state;
  const artifact = stateOf(state) === STATE.completed ? toArtifact(state) : null;
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

export function toStatus(state: TaskState): TaskStatus {
  const { ids, run, values } = state;
  const parts = [...interruptsOf(values), ...errorOf(values)];
  const message =
    parts.length === 0 ? undefined : newMessage(ids, `${run.run_id}-status`, ROLE_AGENT, parts);
  return { state: stateOf(state), message, timestamp: run.updated_at };
}

/** What the agent has said last; of a graph without messages, its values. */
function toArtifact({ run, values }: TaskState): Artifact | null {
  if (!isObject(values)) return null;
  if (!Array.isArray(values["messages"])) return newArtifact(run.run_id, dataPart(values));
  const last = messagesOf(values).findLast((each) => isAgents(each) && textOf(each) !== "");
  return last === undefined ? null : newArtifact(artifactIdOf(last, run), textPart(textOf(last)));
}

export function newArtifact(artifactId: string, part: Part): Artifact {
  const rest = { description: "", metadata: undefined, extensions: [] };
  return { artifactId, name: "response", parts: [part], ...rest };
}

function artifactIdOf(message: JsonObject, run: ShownRun): string {
  return typeof message["id"] === "string" ? message["id"] : run.run_id;
}

/** Whether a message of LangChain, or a chunk of one, is the model's. */
export function isAgents({ type }: JsonObject): boolean {
  return type === "ai" || type === "AIMessageChunk";
}

/** The text of a message, whose content is text or a list of blocks. */
export function textOf({ content }: JsonObject): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  const texts = content.map((block: unknown) => {
    if (typeof block === "string") return block;
    return isObject(block) && block["type"] === "text" ? String(block["text"] ?? "") : "";
  });
  return texts.join("");
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
  const text = textOf(message);
  const isUsers = message["type"] === "human";
  if (text === "" || !(isUsers || isAgents(message))) return [];
  const id = typeof message["id"] === "string" ? message["id"] : `${ids.runId}-${index}`;
  return [newMessage(ids, id, isUsers ? ROLE_USER : ROLE_AGENT, [textPart(text)])];
}

function newMessage(ids: TaskIds, messageId: string, role: 1 | 2, parts: Part[]): Message {
  const none = { metadata: undefined, extensions: [], referenceTaskIds: [] };
  return { messageId, contextId: ids.threadId, taskId: toTaskId(ids), role, parts, ...none };
}

/** What a stopped run asks, one part for each interrupt. */
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
