import type { AppContext } from "../../http/app-types.ts";
import { type ThreadApi, threadStub } from "../threads/thread-stub.ts";
import { type Access, type AuthEvent, authorize } from "./authorize.ts";

type ThreadEvent = Extract<AuthEvent, `threads:${string}`>;

/** A thread as somebody with `access` sees it: one that does not match is none. */
export function threadWith(c: AppContext, threadId: string, { filter }: Access): ThreadApi {
  const thread = threadStub(c.env, c.var.scope, threadId);
  if (filter === null) return thread;
  return {
    create: (request) => thread.create(request, filter),
    get: () => thread.get(filter),
    patch: (metadata) => thread.patch(metadata, filter),
    remove: () => thread.remove(filter),
    createRun: (request) => thread.createRun(request, filter),
    listRuns: (options) => thread.listRuns(options, filter),
    getRun: (runId) => thread.getRun(runId, filter),
    deleteRun: (runId) => thread.deleteRun(runId, filter),
    cancelRun: (runId, options) => thread.cancelRun(runId, options, filter),
    joinRun: (runId, options) => thread.joinRun(runId, options, filter),
    streamRun: (runId, query) => thread.streamRun(runId, query, filter),
    getState: (query) => thread.getState(query, filter),
    getHistory: (query) => thread.getHistory(query, filter),
    updateState: (request) => thread.updateState(request, filter),
  };
}

/** Asks for leave to do `event` to a thread, and answers with the thread to do it to. */
export async function threadFor(
  c: AppContext,
  event: ThreadEvent,
  value: { thread_id: string } & Record<string, unknown>,
): Promise<ThreadApi> {
  return threadWith(c, value.thread_id, await authorize(c, event, value));
}
