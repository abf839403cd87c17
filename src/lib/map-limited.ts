/** How many connections an invocation has: what asks for more than so much at once waits for itself. */
export const CONNECTIONS = 6;

/** The results in the order of the items, with at most `limit` of the calls under way at a time. */
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
