/**
 * Settles as `work` does, or as `late` says once `limitMs` milliseconds are over. Nothing here can end the
 * work itself, which may go on.
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
