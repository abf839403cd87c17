import { threadObjectName } from "../../lib/object-names.ts";
import type { Scope } from "../../lib/scope.ts";
import { regionalObject } from "../../regions/regional-object.ts";
import type { ThreadObject } from "./object/thread-object.ts";
import type { Visibility } from "./contract/thread-requests.ts";

type ThreadStub = Pick<
  ThreadObject,
  | "create"
  | "get"
  | "patch"
  | "remove"
  | "createRun"
  | "listRuns"
  | "getRun"
  | "deleteRun"
  | "cancelRun"
  | "joinRun"
  | "streamRun"
  | "getState"
  | "getHistory"
  | "updateState"
>;

/** A thread as somebody sees it: the calls of the object, of which each is told what that is. */
export type ThreadHandle = {
  [Call in keyof ThreadStub]: ThreadStub[Call] extends (
    filter: Visibility,
    ...rest: infer Rest
  ) => infer Answer
    ? (...rest: Rest) => Answer
    : never;
};

/** A thread that may or may not exist; asking for one that does not costs nothing. */
function threadStub(env: Env, scope: Scope, threadId: string): ThreadStub {
  return regionalObject(env, "THREADS", threadObjectName(scope, threadId));
}

/** The thread as it is to whoever sees `filter`: one that does not match is like one that does not exist. */
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
    patch: (...rest) => thread.patch(filter, ...rest),
    remove: (...rest) => thread.remove(filter, ...rest),
    createRun: (...rest) => thread.createRun(filter, ...rest),
    listRuns: (...rest) => thread.listRuns(filter, ...rest),
    getRun: (...rest) => thread.getRun(filter, ...rest),
    deleteRun: (...rest) => thread.deleteRun(filter, ...rest),
    cancelRun: (...rest) => thread.cancelRun(filter, ...rest),
    joinRun: (...rest) => thread.joinRun(filter, ...rest),
    streamRun: (...rest) => thread.streamRun(filter, ...rest),
    getState: (...rest) => thread.getState(filter, ...rest),
    getHistory: (...rest) => thread.getHistory(filter, ...rest),
    updateState: (...rest) => thread.updateState(filter, ...rest),
  };
}
