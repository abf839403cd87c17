import { z } from "zod";
import { ApiError } from "../../lib/api-error.ts";
import { isObject } from "../../lib/json.ts";

/** What an event of the store is about. A search and a list have no key, and only a put has a value. */
export type StoreTarget = { namespace: string[]; key?: string; value?: Record<string, unknown> };

const leftItem = z.object({
  namespace: z.array(z.string()),
  key: z.string().optional(),
  value: z.custom<Record<string, unknown>>(isObject).optional(),
});

/** The target with what the handler of `event` left of it. Throws for an item that is none, and without one. */
export function leftTarget<T extends StoreTarget>(event: string, target: T, item: unknown): T {
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
