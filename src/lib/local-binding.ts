/**
 * A binding that only the local server gives; undefined elsewhere. A deployed project may have a variable of this name,
 * which is a text.
 */
export function localBinding(env: unknown, name: string): Fetcher | undefined {
  const value: unknown = Reflect.get(Object(env), name);
  return isFetcher(value) ? value : undefined;
}

function isFetcher(value: unknown): value is Fetcher {
  return typeof value === "object" && value !== null && "fetch" in value;
}
