import { z } from "zod";
import { ApiError } from "../../lib/api-error.ts";
import { isObject } from "../../lib/json.ts";

/** The subject of a store event. Searches and lists have no key, and only a put has a value. */
export type StoreTarget = { namespace: string[]; key?: string; value?: Record<string, unknown> };

const leftItem = z.object({
  namespace: z.array(z.string()),
  key: z.string().optional(),
  value: z.custom<Record<string, unknown>>(isObject).optional(),
});

/**
 * Returns the target with the changes that the handler of `event` made. Throws if the item is missing or
 * malformed.
 */
export function leftTarget<T extends StoreTarget>(event: string, target: T, item: unknown): T {
  if (item === undefined) {
    throw new ApiError(
      "forbidden",
      "This revision was built before handlers were asked about the store: deploy the project again",
    );
  }
  const left = leftItem.safeParse(item);
  if (!left.success) {
    throw new ApiError("internal", `The handler of ${event} left an item that is not valid`, {
      cause: left.error,
    });
  }
  const { namespace, key, value } = left.data;
  const changed = { ...target, namespace };
  if (target.key !== undefined && key !== undefined) changed.key = key;
  if (target.value !== undefined && value !== undefined) changed.value = value;
  return changed;
}
