/**
 * Loads something of a project when it is first asked for, and again after a failure. `keepAlive` is given
 * the load while it goes on: the request that began it may end before it does, and others wait for it.
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
