import type { ThreadSnapshot, WireInterrupt } from "../../graph-runtime/protocol.ts";

type WireState = {
  values: unknown;
  next: string[];
  tasks: { id: string; interrupts: WireInterrupt[] }[];
};

/** What the thread shows of a ThreadState that the graph host wrote. */
export function parseSnapshot(stateJson: string): ThreadSnapshot {
  const state: WireState = JSON.parse(stateJson);
  const interrupts: ThreadSnapshot["interrupts"] = {};
  for (const task of state.tasks) {
    if (task.interrupts.length > 0) interrupts[task.id] = task.interrupts;
  }
  return { values: JSON.stringify(state.values), next: state.next, interrupts };
}
