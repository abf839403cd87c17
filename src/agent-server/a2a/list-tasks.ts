import { type ListTasksRequest, type ListTasksResponse, type Task, TaskState } from "@a2a-js/sdk";
import { isUuid } from "../../lib/uuid.ts";
import type { AgentCall } from "../agent-call.ts";
import type { Assistant } from "../assistants/assistant-json.ts";
import { threadFor } from "../auth/thread-access.ts";
import { type FoundTask, newestRuns, readState, taskRunOf } from "./read-task.ts";
import { MAX_TASKS } from "./schemas.ts";
import { toTask } from "./task-json.ts";
import { TaskRefusal } from "./task-refusal.ts";

const DEFAULT_PAGE_SIZE = 50;

/**
 * The assistant's tasks of one context, whose status changed last first, as far as they are among the newest runs of
 * the thread. A context that is not there, or not to be seen, has none.
 */
export async function listTasks(
  call: AgentCall,
  assistant: Assistant,
  request: ListTasksRequest,
): Promise<ListTasksResponse> {
  const { pageSize = DEFAULT_PAGE_SIZE, historyLength, includeArtifacts = false } = request;
  const offset = Number(request.pageToken);
  const found = await tasksOf(call, assistant, request);
  const isWanted = statusFilter(request.status);
  const wanted: FoundTask[] = [];
  for (const task of found) if (await isWanted(task)) wanted.push(task);
  const tasks: Task[] = [];
  for (const task of wanted.slice(offset, offset + pageSize)) {
    const shown = toTask(await readState(task), historyLength);
    tasks.push(includeArtifacts ? shown : { ...shown, artifacts: [] });
  }
  const next = offset + pageSize;
  return {
    tasks,
    nextPageToken: next < wanted.length ? String(next) : "",
    pageSize,
    totalSize: wanted.length,
  };
}

async function tasksOf(
  call: AgentCall,
  assistant: Assistant,
  { contextId, statusTimestampAfter }: ListTasksRequest,
): Promise<FoundTask[]> {
  if (contextId === "") {
    const text = "The tasks of all contexts are not listed: send a contextId";
    throw new TaskRefusal("unsupported_operation", text);
  }
  if (!isUuid(contextId)) return [];
  const threadId = contextId.toLowerCase();
  const about = { thread_id: threadId, limit: MAX_TASKS, offset: 0 };
  const thread = await threadFor(call, "threads:search", about);
  const after = statusTimestampAfter === undefined ? -Infinity : Date.parse(statusTimestampAfter);
  const known = new Map<string, FoundTask>();
  for (const run of (await newestRuns(thread)) ?? []) {
    const runId = taskRunOf(run);
    // A run that answers an earlier one stands for their task: it comes first, because it is newer.
    if (known.has(runId) || run.assistant_id !== assistant.assistant_id) continue;
    known.set(runId, { ids: { threadId, runId }, thread, run });
  }
  return [...known.values()]
    .filter(({ run }) => Date.parse(run.updated_at) >= after)
    .toSorted((left, right) => Date.parse(right.run.updated_at) - Date.parse(left.run.updated_at));
}

/** By the state that a task is told with, for which its values have to be read. */
function statusFilter(status: TaskState): (task: FoundTask) => Promise<boolean> {
  if (status === TaskState.TASK_STATE_UNSPECIFIED) return async () => true;
  return async (task) => toTask(await readState(task), 0).status?.state === status;
}
