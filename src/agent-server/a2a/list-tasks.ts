import { type ListTasksRequest, type ListTasksResponse, type Task, TaskState } from "@a2a-js/sdk";
import { newestThreadsOfAssistant } from "../../db/threads-repo.ts";
import { mapLimited } from "../../lib/map-limited.ts";
import { isUuid } from "../../lib/uuid.ts";
import type { AgentCall } from "../agent-call.ts";
import type { Assistant } from "../assistants/assistant-json.ts";
import { authorize } from "../auth/authorize.ts";
import { threadFor, threadWith } from "../auth/thread-access.ts";
import type { ThreadHandle } from "../threads/thread-stub.ts";
import { type FoundTask, newestRuns, readEndedTask, taskRunOf } from "./read-task.ts";
import { MAX_CONTEXTS, MAX_TASKS, pagePlace, toPageToken } from "./schemas.ts";
import { type ListedRun, listedState, toTask } from "./task-json.ts";
import { TaskRefusal } from "./task-refusal.ts";
import { threadDatabase } from "../threads/index/thread-databases.ts";

const DEFAULT_PAGE_SIZE = 50;

/** A page ends early when its tasks exceed this many characters together; it always has at least one task. */
const MAX_PAGE_CHARS = 8 * 1024 * 1024;

/** Maximum number of groups of contexts that are read for a page. If none has a matching task, the page is empty. */
const MAX_GROUPS = 4;

const CONTEXTS_AT_ONCE = 4;

/** The position of a thread in the list of an assistant's threads. */
type Place = { order: number; key: string };

type ListedTask = FoundTask<ListedRun>;

/** The matching tasks of one or several contexts; `next` is the position where the contexts after them begin. */
type Group = { tasks: ListedTask[]; next: Place | null };

/**
 * Returns the assistant's tasks, the most recently changed first, as far as they are among the newest runs of
 * their contexts. A list over all contexts reads the most recently changed contexts first, a group at a time. A
 * context that does not exist, or that the caller may not see, has no tasks.
 */
export async function listTasks(
  call: AgentCall,
  assistant: Assistant,
  request: ListTasksRequest,
): Promise<ListTasksResponse> {
  const { pageSize = DEFAULT_PAGE_SIZE, contextId } = request;
  const place = pagePlace(request.pageToken);
  // The token of a list over all contexts has a start position; that of a single context does not.
  if (contextId !== "" && place.after !== null) {
    throw new TaskRefusal("invalid_params", "params.pageToken belongs to a different list");
  }
  let { after, offset } = place;
  let group: Group;
  if (contextId === "") {
    const groups = await groupsOf(call, assistant, request);
    group = await groups(after);
    for (let passed = 1; passed < MAX_GROUPS; passed += 1) {
      if (group.next === null || offset < group.tasks.length) break;
      after = group.next;
      offset = 0;
      group = await groups(after);
    }
  } else {
    group = { tasks: await tasksOfContext(call, assistant, request), next: null };
  }
  const tasks = await shownTasks(group.tasks.slice(offset, offset + pageSize), request);
  const end = offset + tasks.length;
  const { next } = group;
  const nextPlace =
    end < group.tasks.length ? { after, offset: end } : next && { after: next, offset: 0 };
  return {
    tasks,
    nextPageToken: nextPlace === null ? "" : toPageToken(nextPlace),
    pageSize,
    totalSize: group.tasks.length,
  };
}

async function shownTasks(
  found: readonly ListedTask[],
  { historyLength, includeArtifacts = false }: ListTasksRequest,
): Promise<Task[]> {
  const tasks: Task[] = [];
  let chars = 0;
  for (const task of found) {
    const whole = toTask(await readEndedTask(task), historyLength);
    const shown = includeArtifacts ? whole : { ...whole, artifacts: [] };
    chars += JSON.stringify(shown).length;
    if (tasks.length > 0 && chars > MAX_PAGE_CHARS) break;
    tasks.push(shown);
  }
  return tasks;
}

async function tasksOfContext(
  call: AgentCall,
  assistant: Assistant,
  request: ListTasksRequest,
): Promise<ListedTask[]> {
  const { contextId } = request;
  if (!isUuid(contextId)) return [];
  const thread_id = contextId.toLowerCase();
  const about = { thread_id, limit: MAX_TASKS, offset: 0 };
  const thread = await threadFor(call, "threads:search", about);
  return wanted(await tasksOf(thread, thread_id, assistant), request);
}

/** Returns a function that reads the contexts in which the assistant ran most recently, one group per call. */
async function groupsOf(
  call: AgentCall,
  assistant: Assistant,
  request: ListTasksRequest,
): Promise<(after: Place | null) => Promise<Group>> {
  const { assistant_id } = assistant;
  const about = { metadata: { assistant_id }, limit: MAX_CONTEXTS, offset: 0 };
  const access = await authorize(call, "threads:search", about);
  const database = threadDatabase(call.env, call.scope);
  return async (after) => {
    const threads = await newestThreadsOfAssistant(database, call.scope, assistant_id, {
      access: access.filter,
      since: changedSince(request),
      after,
      limit: MAX_CONTEXTS,
    });
    if (threads === null) {
      const text = "There are too many threads to look at all of them: send a contextId";
      throw new TaskRefusal("unsupported_operation", text);
    }
    const lists = await mapLimited(threads, CONTEXTS_AT_ONCE, ({ key }) =>
      tasksOf(threadWith(call, String(key), access), String(key), assistant),
    );
    const last = threads.length === MAX_CONTEXTS ? threads.at(-1) : undefined;
    const next = last === undefined ? null : { order: Number(last.order), key: String(last.key) };
    return { tasks: wanted(lists.flat(), request), next };
  };
}

/** Returns the assistant's tasks among the newest runs of a thread. */
async function tasksOf(
  thread: ThreadHandle,
  threadId: string,
  { assistant_id }: Assistant,
): Promise<ListedTask[]> {
  const known = new Map<string, ListedTask>();
  for (const run of (await newestRuns(thread)) ?? []) {
    const runId = taskRunOf(run);
    // A run that resumes an earlier one represents their task: it comes first in the list because it is newer.
    if (known.has(runId) || run.assistant_id !== assistant_id) continue;
    // The metadata is dropped, because it is not needed and would be held in memory for many runs.
    known.set(runId, { ids: { threadId, runId }, thread, run: { ...run, metadata: {} } });
  }
  return [...known.values()];
}

/** Returns the tasks that match the request, the most recently changed first. */
function wanted(tasks: readonly ListedTask[], request: ListTasksRequest): ListedTask[] {
  const { status } = request;
  const since = changedSince(request);
  return tasks
    .filter(({ run }) => Date.parse(run.updated_at) >= since)
    .filter(({ run }) => status === TaskState.TASK_STATE_UNSPECIFIED || listedState(run) === status)
    .toSorted((left, right) => Date.parse(right.run.updated_at) - Date.parse(left.run.updated_at));
}

/** Returns epoch milliseconds; 0 if the request does not restrict the time. */
function changedSince({ statusTimestampAfter }: ListTasksRequest): number {
  return statusTimestampAfter === undefined ? 0 : Date.parse(statusTimestampAfter);
}
