import { ApiError } from "../../lib/api-error.ts";
import { threadObjectName } from "../../lib/object-names.ts";
import type { Scope } from "../../lib/scope.ts";
import { regionalObject } from "../../regions/regional-object.ts";
import type { ThreadObject } from "./object/thread-object.ts";
import type { Visibility } from "../../lib/metadata-filter.ts";

type ThreadStub = Pick<
  ThreadObject,
  | "create"
  | "get"
  | "copy"
  | "patch"
  | "prune"
  | "remove"
  | "createRun"
  | "listRuns"
  | "getRun"
  | "deleteRun"
  | "cancelRun"
  | "cancelRuns"
  | "joinRun"
  | "streamRun"
  | "streamThread"
  | "getState"
  | "getHistory"
  | "updateState"
  | "startRun"
  | "view"
  | "agentTree"
  | "streamEvents"
>;

/** The methods of a thread's object, bound to what the caller may see. */
export type ThreadHandle = {
  [Call in keyof ThreadStub]: ThreadStub[Call] extends (
    filter: Visibility,
    ...rest: infer Rest
  ) => infer Answer
    ? (...rest: Rest) => Answer
    : never;
};

/** Returns the stub of a thread. The thread need not exist: calling an object without a thread stores nothing. */
function threadStub(env: Env, scope: Scope, threadId: string): ThreadStub {
  return regionalObject(env, "THREADS", threadObjectName(scope, threadId));
}

/** Passes the upgrade to a WebSocket to a thread, which need not exist yet. */
export function connectThread(
  env: Env,
  scope: Scope,
  threadId: string,
  upgrade: Request,
): Promise<Response> {
  return regionalObject(env, "THREADS", threadObjectName(scope, threadId)).fetch(upgrade);
}

/** Returns the thread for a caller who may see only threads that match `filter`: others are treated as missing. */
export function threadSeenBy(
  filter: Visibility,
  env: Env,
  scope: Scope,
  threadId: string,
): ThreadHandle {
  const thread = threadStub(env, scope, threadId);
  return {
    create: (...rest) => thread.create(filter, ...rest),
    get: (...rest) => thread.get(filter, ...rest),
    copy: (...rest) => thread.copy(filter, ...rest),
    patch: (...rest) => thread.patch(filter, ...rest),
    prune: (...rest) => thread.prune(filter, ...rest),
    remove: (...rest) => thread.remove(filter, ...rest),
    createRun: (...rest) => orTooLarge(thread.createRun(filter, ...rest)),
    listRuns: (...rest) => thread.listRuns(filter, ...rest),
    getRun: (...rest) => thread.getRun(filter, ...rest),
    deleteRun: (...rest) => thread.deleteRun(filter, ...rest),
    cancelRun: (...rest) => thread.cancelRun(filter, ...rest),
    cancelRuns: (...rest) => thread.cancelRuns(filter, ...rest),
    joinRun: (...rest) => thread.joinRun(filter, ...rest),
    streamRun: (...rest) => thread.streamRun(filter, ...rest),
    streamThread: (...rest) => thread.streamThread(filter, ...rest),
    getState: (...rest) => thread.getState(filter, ...rest),
    getHistory: (...rest) => thread.getHistory(filter, ...rest),
    updateState: (...rest) => orTooLarge(thread.updateState(filter, ...rest)),
    startRun: (...rest) => orTooLarge(thread.startRun(filter, ...rest)),
    view: (...rest) => thread.view(filter, ...rest),
    agentTree: (...rest) => thread.agentTree(filter, ...rest),
    streamEvents: (...rest) => thread.streamEvents(filter, ...rest),
  };
}

/**
 * Translates the error of a call that is too large. A body within its size limit may still exceed that of a call,
 * in whose encoding some characters take two bytes, and numbers nine.
 */
async function orTooLarge<Answer>(answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer;
  } catch (error) {
    if (!String(error).includes("RPC arguments or return values are limited")) throw error;
    throw new ApiError(
      "payload_too_large",
      "The values of this request exceed the 32 MiB limit of a call within the platform: send them in parts",
      { cause: error },
    );
  }
}
