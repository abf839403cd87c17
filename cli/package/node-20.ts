/**
 * Defines the functions of the standard library that this code uses and Node 20 lacks. The type checker does
 * not know Node's versions, so a function missing here only fails in the tests of the package, which run on
 * the oldest Node that they find.
 */
const { promise, groups, urls } = {
  promise: Promise as Partial<Pick<PromiseConstructor, "withResolvers">>,
  groups: Map as Partial<Pick<MapConstructor, "groupBy">>,
  urls: URL as Partial<Pick<typeof URL, "parse">>,
};

promise.withResolvers ??= <T>() => {
  const made = {} as PromiseWithResolvers<T>;
  made.promise = new Promise<T>((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
};

groups.groupBy ??= <K, T>(items: Iterable<T>, keyOf: (item: T, index: number) => K) => {
  const grouped = new Map<K, T[]>();
  let index = 0;
  for (const item of items) {
    const key = keyOf(item, index);
    grouped.set(key, [...(grouped.get(key) ?? []), item]);
    index += 1;
  }
  return grouped;
};

urls.parse ??= (text: string | URL, base?: string | URL) =>
  URL.canParse(text, base) ? new URL(text, base) : null;

// Node warns about its experimental SQLite at each start, and users cannot do anything about it.
const [warn] = process.listeners("warning");
if (warn !== undefined) {
  process.off("warning", warn);
  process.on("warning", (warning) => {
    if (!warning.message.startsWith("SQLite is an experimental feature")) warn(warning);
  });
}
