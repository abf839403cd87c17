import { isUuid } from "../../lib/uuid.ts";

/** A task is a run, and the runs that answered its interrupts; its context is the thread. */
export type TaskIds = { threadId: string; runId: string };

/** Clients ask for a task by its id alone, and a run is found by its thread: so the id names both. */
export function toTaskId({ threadId, runId }: TaskIds): string {
  return `${threadId}:${runId}`;
}

/** Null for what is no task's id. */
export function parseTaskId(taskId: string): TaskIds | null {
  const [threadId = "", runId = "", ...rest] = taskId.toLowerCase().split(":");
  return isUuid(threadId) && isUuid(runId) && rest.length === 0 ? { threadId, runId } : null;
}
