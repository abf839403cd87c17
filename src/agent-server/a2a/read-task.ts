import { readJsonText } from "../../lib/json-answer.ts";
import type { AgentCall } from "../agent-call.ts";
import type { Assistant } from "../assistants/assistant-json.ts";
import { threadFor } from "../auth/thread-access.ts";
import { threadFailure } from "../threads/contract/failures.ts";
import type { ThreadHandle } from "../threads/thread-stub.ts";
import { MAX_TASKS } from "./schemas.ts";
import { isAtWork, type EndedTask, type ListedRun, type ShownRun } from "./task-json.ts";
import { parseTaskId, type TaskIds, toTaskId } from "./task-id.ts";
import { TaskRefusal, taskNotFound } from "./task-refusal.ts";

/** The key in a run's metadata that names the first run of its task, if that is a different run. */
export const TASK_MEMBER = "a2a_task_id";

const MAX_LIST_BYTES = 8 * 1024 * 1024;

const MAX_RESULT_BYTES = 16 * 1024 * 1024;

const FIELDS = ["run_id", "assistant_id", "status", "updated_at", "metadata", "stopped"] as const;

export type FoundTask<R extends ShownRun = ShownRun> = {
  ids: TaskIds;
  thread: ThreadHandle;
  run: R;
};

/**
 * Returns a task of the assistant with its latest run. Throws `task_not_found` for tasks of other assistants, too.
 */
export async function findTask(
  call: AgentCall,
  assistant: Assistant,
  taskId: string,
): Promise<FoundTask> {
  const ids = parseTaskId(taskId);
  if (ids === null) throw taskNotFound();
  const { threadId: thread_id, runId: run_id } = ids;
  const thread = await threadFor(call, "threads:read", { thread_id, run_id });
  const run = (await latestRun(thread, run_id)) ?? (await thread.getRun(run_id));
  if (run === null || run.assistant_id !== assistant.assistant_id) throw taskNotFound();
  return { ids, thread, run };
}

async function latestRun(thread: ThreadHandle, runId: string): Promise<ShownRun | null> {
  const runs = await newestRuns(thread);
  return runs?.find((run) => taskRunOf(run) === runId) ?? null;
}

/** Returns the runs of a thread that are searched for tasks, the newest first; null if the thread does not exist. */
export async function newestRuns(thread: ThreadHandle): Promise<ListedRun[] | null> {
  const query = { limit: MAX_TASKS, offset: 0, status: null, fields: FIELDS };
  const listed = await thread.listRuns(query);
  const json = listed === null ? null : await readJsonText(listed, MAX_LIST_BYTES);
  return json === null ? null : (JSON.parse(json) as ListedRun[]);
}

/** Returns the id of the first run of the task that a run belongs to. */
export function taskRunOf({ run_id, metadata }: ShownRun): string {
  const first = metadata[TASK_MEMBER];
  return typeof first === "string" ? first : run_id;
}

/** Returns the task, with its final values if it has ended. */
export async function readEndedTask({ ids, thread, run }: FoundTask): Promise<EndedTask> {
  if (isAtWork(run)) return { ids, run, values: null };
  const joined = await thread.joinRun(run.run_id, { cancel_on_disconnect: false });
  if (!joined.ok) throw threadFailure(joined, ids.threadId);
  return { ids, run, values: await readResult(joined.value) };
}

/** Returns the final values of a run once it has ended; null if they are too large to be returned. */
export async function readResult(stream: ReadableStream<Uint8Array>): Promise<unknown> {
  const text = await readJsonText(stream, MAX_RESULT_BYTES);
  return text === null ? null : JSON.parse(text);
}

/** Cancels the run that is executing a task. */
export async function cancelTask(
  call: AgentCall,
  assistant: Assistant,
  taskId: string,
): Promise<EndedTask> {
  const { ids, run } = await findTask(call, assistant, taskId);
  if (!isAtWork(run)) throw new TaskRefusal("task_not_cancelable", "The task is not at work");
  const thread = await threadFor(call, "threads:update", {
    thread_id: ids.threadId,
    action: "interrupt",
    metadata: { run_ids: [run.run_id] },
  });
  const cancelled = await thread.cancelRun(run.run_id, { action: "interrupt", wait: true });
  if (!cancelled.ok) throw taskNotFound();
  return readEndedTask(await findTask(call, assistant, toTaskId(ids)));
}
