/** A piece of SQL with `?` for each bound parameter, in order. */
export type Sql = { text: string; params: (string | number)[] };

export function sql(text: string, ...params: (string | number)[]): Sql {
  return { text, params };
}

/** Returns the condition that a column or an expression has one of the values, which are a single parameter. */
export function isAmong(operand: string, values: readonly (string | number)[]): Sql {
  return sql(`${operand} IN (SELECT value FROM json_each(?))`, JSON.stringify(values));
}

/**
 * Joins conditions by AND; true when there is none. Builds a balanced tree, because D1 limits the depth of
 * expressions and a plain chain is as deep as it is long.
 */
export function allOf(conditions: readonly Sql[]): Sql {
  return join(conditions, "AND", "1");
}

/** Joins conditions by OR in the same way; false when there is none. */
export function anyOf(conditions: readonly Sql[]): Sql {
  return join(conditions, "OR", "0");
}

function join(conditions: readonly Sql[], operator: "AND" | "OR", none: string): Sql {
  return {
    text: joined(
      conditions.map(({ text }) => text),
      operator,
      none,
    ),
    params: conditions.flatMap(({ params }) => params),
  };
}

function joined(texts: readonly string[], operator: string, none: string): string {
  if (texts.length < 2) return texts[0] ?? none;
  const middle = Math.ceil(texts.length / 2);
  const [left, right] = [texts.slice(0, middle), texts.slice(middle)];
  return `(${joined(left, operator, none)} ${operator} ${joined(right, operator, none)})`;
}
