import { isObject } from "../../../lib/json.ts";
import type {
  RunEvent,
  RunOutcome,
  ThreadSnapshot,
  WireInterrupt,
} from "../../../graph-runtime/protocol.ts";

/**
 * Returns a graph host's answer if it is a run's outcome, and throws otherwise. The host of a deployment is the
 * deployment's own code, and a run whose end cannot be stored would never end.
 */
export function toOutcome(value: unknown): RunOutcome {
  if (isOutcome(value)) return value;
  throw new TypeError("The graph host's answer is not the outcome of a run");
}

function isOutcome(value: unknown): value is RunOutcome {
  if (!isObject(value) || !isTail(value["tail"])) return false;
  const { status, error, result, snapshot } = value;
  if (!isTextOrNull(result) || (snapshot === "result" && result === null)) return false;
  if (snapshot !== null && snapshot !== "result" && !isSnapshot(snapshot)) return false;
  if (status === "error") {
    return (
      isObject(error) && typeof error["error"] === "string" && typeof error["message"] === "string"
    );
  }
  return status === "success" || status === "interrupted";
}

function isTail(tail: unknown): boolean {
  if (!isObject(tail)) return false;
  const { checkpoints, events } = tail;
  return Array.isArray(checkpoints) && Array.isArray(events) && events.every(isEvent);
}

function isEvent(value: unknown): value is RunEvent {
  return isObject(value) && typeof value["event"] === "string" && typeof value["data"] === "string";
}

function isSnapshot(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { values, next, interrupts } = value;
  return (
    isTextOrNull(values) &&
    Array.isArray(next) &&
    next.every((node) => typeof node === "string") &&
    isObject(interrupts)
  );
}

function isTextOrNull(value: unknown): boolean {
  return value === null || typeof value === "string";
}

/**
 * Whether the thread waits for input. LangGraph reports no next node when a resumed node has stopped for a second
 * time, so pending interrupts count, too.
 */
export function isStopped({ next, interrupts }: ThreadSnapshot): boolean {
  return next.length > 0 || Object.keys(interrupts).length > 0;
}

type WireState = {
  values: unknown;
  next: string[];
  tasks: { id: string; interrupts: WireInterrupt[] }[];
};

/** Returns the visible part of a ThreadState that the graph host wrote. Throws if the text is not a state. */
export function parseSnapshot(stateJson: string): ThreadSnapshot {
  const state: unknown = JSON.parse(stateJson);
  if (!isState(state)) throw new TypeError("The graph host's answer is not a state");
  const interrupts: ThreadSnapshot["interrupts"] = {};
  for (const task of state.tasks) {
    if (task.interrupts.length > 0) interrupts[task.id] = task.interrupts;
  }
  return { values: JSON.stringify(state.values), next: state.next, interrupts };
}

function isState(value: unknown): value is WireState {
  if (!isObject(value) || value["values"] === undefined) return false;
  const { next, tasks } = value;
  const isNext = Array.isArray(next) && next.every((node) => typeof node === "string");
  return isNext && Array.isArray(tasks) && tasks.every(isTask);
}

function isTask(task: unknown): boolean {
  return isObject(task) && typeof task["id"] === "string" && Array.isArray(task["interrupts"]);
}
