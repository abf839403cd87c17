import type { AppContext } from "../../http/app-types.ts";
import { type ThreadHandle, threadSeenBy } from "../threads/thread-stub.ts";
import { type Access, type AuthEvent, authorize } from "./authorize.ts";

type ThreadEvent = Extract<AuthEvent, `threads:${string}`>;

/** A thread as somebody with `access` sees it: one that does not match is like one that does not exist. */
export function threadWith(c: AppContext, threadId: string, { filter }: Access): ThreadHandle {
  return threadSeenBy(filter, c.env, c.var.scope, threadId);
}

/** Asks for leave to do `event` to a thread, and answers with the thread to do it to. */
export async function threadFor(
  c: AppContext,
  event: ThreadEvent,
  value: { thread_id: string } & Record<string, unknown>,
): Promise<ThreadHandle> {
  return threadWith(c, value.thread_id, await authorize(c, event, value));
}
