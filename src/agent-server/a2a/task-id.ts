import { isUuid } from "../../lib/uuid.ts";

/** A task consists of a run and of the runs that answered its interrupts; its context is the thread. */
export type TaskIds = { threadId: string; runId: string };

/** Clients send only the id of a task, but a run can only be found through its thread, so the id contains both. */
export function toTaskId({ threadId, runId }: TaskIds): string {
  return `${threadId}:${runId}`;
}

/** Returns null if the text is not a task id. */
export function parseTaskId(taskId: string): TaskIds | null {
  const [threadId = "", runId = "", ...rest] = taskId.toLowerCase().split(":");
  return isUuid(threadId) && isUuid(runId) && rest.length === 0 ? { threadId, runId } : null;
}
