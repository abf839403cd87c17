import { env } from "cloudflare:workers";

/** Returns D1, and the number of rows that each statement has read. */
export function observedDatabase(): { database: D1Database; statements: number[] } {
  const statements: number[] = [];
  const watch = (statement: D1PreparedStatement): D1PreparedStatement =>
    new Proxy(statement, {
      get: (target, name) => {
        if (name === "bind") return (...values: unknown[]) => watch(target.bind(...values));
        const all = async () => {
          const result = await target.all();
          statements.push(result.meta.rows_read);
          return result;
        };
        if (name === "first") return async () => (await all()).results[0] ?? null;
        if (name === "all") return all;
        return Reflect.get(target, name);
      },
    });
  const database = new Proxy(env.DB, {
    get: (target, name) =>
      name === "prepare"
        ? (text: string) => watch(target.prepare(text))
        : Reflect.get(target, name),
  });
  return { database, statements };
}
