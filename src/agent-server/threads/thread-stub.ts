import { threadObjectName } from "../../lib/object-names.ts";
import type { Scope } from "../../lib/scope.ts";
import { regionalObject } from "../../regions/regional-object.ts";
import type { ThreadObject } from "./thread-object.ts";

export type ThreadApi = Pick<
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

/** A thread that may or may not exist; asking for one that does not costs nothing. */
export function threadStub(env: Env, scope: Scope, threadId: string): ThreadApi {
  return regionalObject(env, "THREADS", threadObjectName(scope, threadId));
}
