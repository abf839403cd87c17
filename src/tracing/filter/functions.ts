export const FUNCTION_NAMES = [
  "and",
  "or",
  "not",
  "eq",
  "neq",
  "gt",
  "gte",
  "lt",
  "lte",
  "in",
  "like",
  "notlike",
  "has",
  "exists",
  "search",
] as const;

export type FunctionName = (typeof FUNCTION_NAMES)[number];
