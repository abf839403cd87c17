const BINARY_OPERATORS: Record<string, (left: number, right: number) => number> = {
  "+": (left, right) => left + right,
  "-": (left, right) => left - right,
  "*": (left, right) => left * right,
  "/": (left, right) => left / right,
};
const PRECEDENCE = [
  ["+", "-"],
  ["*", "/"],
];
const TOKEN = /\s*(\d+(?:\.\d+)?|[-+*/()])/y;

/** Evaluates numbers, `+ - * /` and parentheses. Throws an error that says which part is not valid. */
export function evaluate(expression: string): number {
  const tokens = tokenize(expression);
  let position = 0;

  function binary(level: number): number {
    const operators = PRECEDENCE[level];
    if (operators === undefined) return unary();
    let left = binary(level + 1);
    for (;;) {
      const operator = tokens[position];
      const apply = operator === undefined ? undefined : BINARY_OPERATORS[operator];
      if (operator === undefined || apply === undefined || !operators.includes(operator)) {
        return left;
      }
      position += 1;
      left = apply(left, binary(level + 1));
    }
  }

  function unary(): number {
    const token = tokens[position];
    position += 1;
    if (token === "-") return -unary();
    if (token === "(") {
      const inside = binary(0);
      if (tokens[position] !== ")") throw new Error(`A parenthesis is not closed: ${expression}`);
      position += 1;
      return inside;
    }
    if (token === undefined || !/^\d/.test(token)) {
      throw new Error(`A number is missing: ${expression}`);
    }
    return Number(token);
  }

  const result = binary(0);
  if (position < tokens.length) throw new Error(`Unexpected "${tokens[position]}": ${expression}`);
  if (!Number.isFinite(result)) throw new Error(`No finite result: ${expression}`);
  return result;
}

function tokenize(expression: string): string[] {
  const tokens: string[] = [];
  const text = expression.trim();
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const start = TOKEN.lastIndex;
    const token = TOKEN.exec(text)?.[1];
    if (token === undefined) throw new Error(`Unexpected "${text[start]}": ${expression}`);
    tokens.push(token);
  }
  return tokens;
}
