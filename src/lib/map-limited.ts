/** An invocation can have six open connections: further requests wait until one of them ends. */
export const CONNECTIONS = 6;

/**
 * Calls `call` for each item, with at most `limit` calls in flight. Resolves to the results in the order of the
 * items.
 */
export async function mapLimited<T, R>(
  items: readonly T[],
  limit: number,
  call: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const waiting = items.entries();
  const work = async (): Promise<void> => {
    for (const [index, item] of waiting) results[index] = await call(item);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, work));
  return results;
}
