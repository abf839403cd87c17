/**
 * Returns a binding that only the local server provides; undefined elsewhere. A deployed project may have a variable of
 * the same name, which is a string.
 */
export function localBinding(env: unknown, name: string): Fetcher | undefined {
  const value: unknown = Reflect.get(Object(env), name);
  return isFetcher(value) ? value : undefined;
}

function isFetcher(value: unknown): value is Fetcher {
  return typeof value === "object" && value !== null && "fetch" in value;
}
