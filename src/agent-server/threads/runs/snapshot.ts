import { isObject } from "../../../lib/json.ts";
import type { ThreadSnapshot, WireInterrupt } from "../../../graph-runtime/protocol.ts";

type WireState = {
  values: unknown;
  next: string[];
  tasks: { id: string; interrupts: WireInterrupt[] }[];
};

/** What the thread shows of a ThreadState that the graph host wrote. Throws when it wrote none. */
export function parseSnapshot(stateJson: string): ThreadSnapshot {
  const state: unknown = JSON.parse(stateJson);
  if (!isState(state)) throw new TypeError("The graph host's answer is no state");
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
