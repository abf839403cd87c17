import type { AgentCall } from "../agent-call.ts";
import { type ThreadHandle, threadSeenBy } from "../threads/thread-stub.ts";
import { type Access, type AuthEvent, authorize } from "./authorize.ts";

type ThreadEvent = Extract<AuthEvent, `threads:${string}`>;

/**
 * Returns the thread for a caller with `access`: a thread that does not match it is treated as if it did not
 * exist.
 */
export function threadWith(call: AgentCall, threadId: string, { filter }: Access): ThreadHandle {
  return threadSeenBy(filter, call.env, call.scope, threadId);
}

/** Checks that the request may do `event` to a thread, and returns the thread. */
export async function threadFor(
  call: AgentCall,
  event: ThreadEvent,
  value: { thread_id: string } & Record<string, unknown>,
): Promise<ThreadHandle> {
  return threadWith(call, value.thread_id, await authorize(call, event, value));
}
