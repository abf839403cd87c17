/** A piece of SQL with `?` for each bound parameter, in order. */
export type Sql = { text: string; params: (string | number)[] };

export function sql(text: string, ...params: (string | number)[]): Sql {
  return { text, params };
}

/** Joined by AND; true when there is none. */
export function allOf(conditions: readonly Sql[]): Sql {
  if (conditions.length === 0) return sql("1");
  return {
    text: conditions.map(({ text }) => text).join(" AND "),
    params: conditions.flatMap(({ params }) => params),
  };
}
