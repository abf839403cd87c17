import type { MetadataFilter } from "../../lib/metadata-filter.ts";
import type { AgentCall } from "../agent-call.ts";
import { type AuthEvent, decide } from "./authorize.ts";
import { z } from "zod";
import { ApiError } from "../../lib/api-error.ts";
import { isObject } from "../../lib/json.ts";

type StoreEvent = Extract<AuthEvent, `store:${string}`>;

/** Leave to do one thing in the store, to what the handler made of the request; `filter` is what may be seen there. */
type StoreAccess<T extends Target> = { target: T; filter: MetadataFilter | null };

/**
 * Asks the project whether the request may do `event` to `target`. Handlers keep users apart by changing the
 * namespace, so what a handler left of the target takes its place. `options` are shown to handlers and stay as they are.
 */
export async function authorizeStore<T extends Target>(
  call: AgentCall,
  event: StoreEvent,
  target: T,
  options: Record<string, unknown> = {},
): Promise<StoreAccess<T>> {
  const decided = await decide(call, event, { ...options, ...target });
  if (decided === null) return { target, filter: null };
  return { target: leftTarget(event, target, decided.item), filter: decided.filter };
}

/** What an event of the store is about. A search and a list have no key, and only a put has a value. */
type Target = { namespace: string[]; key?: string; value?: Record<string, unknown> };

const leftItem = z.object({
  namespace: z.array(z.string()),
  key: z.string().optional(),
  value: z.custom<Record<string, unknown>>(isObject).optional(),
});

/** The target with what the handler of `event` left of it. Throws for an item that is none, and without one. */
export function leftTarget<T extends Target>(event: string, target: T, item: unknown): T {
  if (item === undefined) {
    throw new ApiError(
      "forbidden",
      "This revision was built before handlers were asked about the store: deploy the project again",
    );
  }
  const left = leftItem.safeParse(item);
  if (!left.success) {
    throw new ApiError("internal", `The handler of ${event} left an item that is none`, {
      cause: left.error,
    });
  }
  const { namespace, key, value } = left.data;
  const changed = { ...target, namespace };
  if (target.key !== undefined && key !== undefined) changed.key = key;
  if (target.value !== undefined && value !== undefined) changed.value = value;
  return changed;
}
