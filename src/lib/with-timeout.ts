/**
 * Settles as `work` does, or with the result of `late` after `limitMs` milliseconds. The work itself cannot be
 * stopped here and may continue.
 */
export async function withTimeout<T, L>(
  limitMs: number,
  work: Promise<T> | T,
  late: () => L,
): Promise<T | L> {
  const over = Promise.withResolvers<L>();
  const timer = setTimeout(() => {
    try {
      over.resolve(late());
    } catch (error) {
      over.reject(error);
    }
  }, limitMs);
  try {
    return await Promise.race([work, over.promise]);
  } finally {
    clearTimeout(timer);
  }
}
