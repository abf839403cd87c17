import type { MetadataFilter } from "../../lib/metadata-filter.ts";
import type { AgentCall } from "../agent-call.ts";
import { type AuthEvent, askAuthHandler } from "./authorize.ts";
import { type StoreTarget, leftTarget } from "./store-target.ts";

type StoreEvent = Extract<AuthEvent, `store:${string}`>;

/** Leave to do one thing in the store, to what the handler made of the request; `filter` is what may be seen there. */
type StoreAccess<T extends StoreTarget> = { target: T; filter: MetadataFilter | null };

/**
 * Asks the project whether the request may do `event` to `target`. Handlers keep users apart by changing the
 * namespace, so what a handler left of the target takes its place. `options` are shown to handlers and stay as they are.
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
