import { z } from "@hono/zod-openapi";
import { jsonOrUndefined } from "../lib/json.ts";
import { refuseValue } from "./refuse-value.ts";

/** Query values arrive as a string, or as a list of strings when the key is repeated. */

export function booleanParam() {
  return z
    .string()
    .transform((text, ctx): boolean => {
      const lower = text.toLowerCase();
      if (lower === "1" || lower === "true" || lower === "yes") return true;
      if (lower === "0" || lower === "false" || lower === "no") return false;
      return refuseValue(ctx, "Input should be a valid boolean", "bool_parsing");
    })
    .openapi({ type: "boolean" });
}

export function integerParam(bounds: { min: number; max?: number }) {
  const max = bounds.max ?? Number.MAX_SAFE_INTEGER;
  return z
    .string()
    .transform((text, ctx): number => {
      const number = Number(text);
      if (!/^-?\d+$/.test(text) || !Number.isSafeInteger(number)) {
        return refuseValue(ctx, "Input should be a valid integer", "int_parsing");
      }
      if (number < bounds.min) {
        const msg = `Input should be greater than or equal to ${bounds.min}`;
        return refuseValue(ctx, msg, "greater_than_equal");
      }
      if (number > max) {
        return refuseValue(ctx, `Input should be less than or equal to ${max}`, "less_than_equal");
      }
      return number;
    })
    .openapi({ type: "integer", minimum: bounds.min, maximum: max });
}

/** A list in one of three forms: one JSON array (the JS SDK), a repeated key (Python), or a single plain value. */
export function listParam<T extends string>(allowed?: readonly T[]) {
  return z
    .union([z.string(), z.array(z.string())])
    .transform((value, ctx): T[] => {
      const items = typeof value === "string" ? parseList(value) : value;
      const unknown = items.filter((item) => !isAllowed(item, allowed));
      if (unknown.length > 0 && allowed !== undefined) {
        const names = allowed.map((name) => `'${name}'`).join(", ");
        return refuseValue(ctx, `Input should be one of ${names}`, "enum");
      }
      return items.filter((item) => isAllowed(item, allowed));
    })
    .openapi({ type: "array", items: { type: "string" } });
}

function parseList(text: string): string[] {
  if (!text.startsWith("[")) return [text];
  const parsed = jsonOrUndefined(text);
  return Array.isArray(parsed) ? parsed.map(String) : [text];
}

function isAllowed<T extends string>(item: string, allowed: readonly T[] | undefined): item is T {
  return allowed === undefined || allowed.some((name) => name === item);
}
