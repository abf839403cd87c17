/** A piece of SQL with `?` for each bound parameter, in order. */
export type Sql = { text: string; params: (string | number)[] };

export function sql(text: string, ...params: (string | number)[]): Sql {
  return { text, params };
}

/**
 * Joined by AND; true when there is none. As a balanced tree: D1 limits the depth of expressions,
 * and a plain chain is as deep as it is long.
 */
export function allOf(conditions: readonly Sql[]): Sql {
  return {
    text: joined(conditions.map(({ text }) => text)),
    params: conditions.flatMap(({ params }) => params),
  };
}

function joined(texts: readonly string[]): string {
  if (texts.length < 2) return texts[0] ?? "1";
  const middle = Math.ceil(texts.length / 2);
  return `(${joined(texts.slice(0, middle))} AND ${joined(texts.slice(middle))})`;
}
