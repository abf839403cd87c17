import { isDeepStrictEqual } from "node:util";
type Comparison = (value: unknown, operand: unknown) => boolean;

/** LangGraph's store operators. Ordering compares numbers with numbers and strings with strings. */
const OPERATORS: Record<string, Comparison> = {
  $eq: equals,
  $ne: (value, operand) => !equals(value, operand),
  $gt: (value, operand) => compare(value, operand, (sign) => sign > 0),
  $gte: (value, operand) => compare(value, operand, (sign) => sign >= 0),
  $lt: (value, operand) => compare(value, operand, (sign) => sign < 0),
  $lte: (value, operand) => compare(value, operand, (sign) => sign <= 0),
};

/** Returns whether the value matches every key of the filter: with an operator object, or an equal value. */
export function matchesFilter(
  value: Record<string, unknown>,
  filter: Record<string, unknown>,
): boolean {
  return Object.entries(filter).every(([key, condition]) => matches(value[key], condition));
}

/** Returns the first unknown operator of the filter; null if all are known. */
export function unknownOperator(filter: Record<string, unknown>): string | null {
  const names = Object.values(filter)
    .filter(isOperatorObject)
    .flatMap((condition) => Object.keys(condition));
  return names.find((name) => !Object.hasOwn(OPERATORS, name)) ?? null;
}

function matches(value: unknown, condition: unknown): boolean {
  if (!isOperatorObject(condition)) return equals(value, condition);
  return Object.entries(condition).every(([name, operand]) => {
    const operator = Object.hasOwn(OPERATORS, name) ? OPERATORS[name] : undefined;
    if (operator === undefined) throw new Error(`Unknown filter operator "${name}"`);
    return operator(value, operand);
  });
}

function isOperatorObject(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.keys(value).some((key) => key.startsWith("$"))
  );
}

function compare(value: unknown, operand: unknown, test: (sign: number) => boolean): boolean {
  if (typeof value === "number" && typeof operand === "number") return test(value - operand);
  if (typeof value === "string" && typeof operand === "string") {
    return test(value < operand ? -1 : value > operand ? 1 : 0);
  }
  return false;
}

/** Compares structurally, regardless of the order of keys. */
function equals(left: unknown, right: unknown): boolean {
  return left === right || isDeepStrictEqual(left, right);
}

/** Returns whether the labels begin with `prefix` and end with `suffix`; `*` matches any one label. */
export function matchesNamespace(
  labels: readonly string[],
  conditions: { prefix?: readonly string[] | undefined; suffix?: readonly string[] | undefined },
): boolean {
  const { prefix = [], suffix = [] } = conditions;
  if (labels.length < prefix.length || labels.length < suffix.length) return false;
  const tail = labels.slice(labels.length - suffix.length);
  return (
    prefix.every((label, index) => label === "*" || label === labels[index]) &&
    suffix.every((label, index) => label === "*" || label === tail[index])
  );
}
