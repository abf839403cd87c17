import type { MetadataFilter } from "../../lib/metadata-filter.ts";
import type { AgentCall } from "../agent-call.ts";
import { type AuthEvent, askAuthHandler } from "./authorize.ts";
import { type StoreTarget, leftTarget } from "./store-target.ts";

type StoreEvent = Extract<AuthEvent, `store:${string}`>;

/**
 * Permission to do one thing in the store to `target`, as changed by the handler; `filter` limits the visible
 * items.
 */
type StoreAccess<T extends StoreTarget> = { target: T; filter: MetadataFilter | null };

/**
 * Asks the project whether the request may do `event` to `target`. Handlers separate users by changing the
 * namespace, so the returned target is the one that the handler changed. `options` are shown to handlers, but
 * cannot be changed.
 */
export async function authorizeStore<T extends StoreTarget>(
  call: AgentCall,
  event: StoreEvent,
  target: T,
  options: Record<string, unknown> = {},
): Promise<StoreAccess<T>> {
  const decided = await askAuthHandler(call, event, { ...options, ...target });
  if (decided === null) return { target, filter: null };
  return { target: leftTarget(event, target, decided.item), filter: decided.filter };
}
