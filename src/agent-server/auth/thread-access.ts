import type { AgentCall } from "../agent-call.ts";
import { type ThreadHandle, threadSeenBy } from "../threads/thread-stub.ts";
import { type Access, type AuthEvent, authorize } from "./authorize.ts";

type ThreadEvent = Extract<AuthEvent, `threads:${string}`>;

/** A thread as somebody with `access` sees it: one that does not match is like one that does not exist. */
export function threadWith(call: AgentCall, threadId: string, { filter }: Access): ThreadHandle {
  return threadSeenBy(filter, call.env, call.scope, threadId);
}

/** Asks for leave to do `event` to a thread, and answers with the thread to do it to. */
export async function threadFor(
  call: AgentCall,
  event: ThreadEvent,
  value: { thread_id: string } & Record<string, unknown>,
): Promise<ThreadHandle> {
  return threadWith(call, value.thread_id, await authorize(call, event, value));
}
