/**
 * Returns a function that loads something of a project on its first call, and again after a failure.
 * `keepAlive` is called with the promise of the load in progress, because the request that started it may end
 * before it, while other requests wait for the same load.
 */
export function loadOnce<T>(
  load: () => Promise<T>,
  keepAlive: (loading: Promise<unknown>) => void,
): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () => {
    if (loading === undefined) {
      loading = load();
      const forget = (): void => void (loading = undefined);
      keepAlive(loading.then(() => {}, forget));
    }
    return loading;
  };
}
