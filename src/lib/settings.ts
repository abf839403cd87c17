import { z } from "zod";
import { parseAddressRanges } from "./address-range.ts";
import { parseHostList } from "./host-list.ts";
import { jsonOrUndefined } from "./json.ts";
import { isUuid } from "./uuid.ts";

/** The Worker's variables: texts, and tables where wrangler.toml has them. */
export type Vars = Readonly<Record<string, unknown>>;

/**
 * Reads a capability's settings from the Worker's variables. The schema has a member for each variable, made by
 * the functions below; a variable that is missing or empty gets its default. Throws an error that names an invalid
 * variable.
 */
export function readSettings<S extends z.ZodType>(schema: S, vars: Vars): z.output<S> {
  const result = schema.safeParse(vars);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const name = String(issue?.path[0]);
  const isTable = issue?.code === "custom" && issue.params?.["isTable"] === true;
  if (isTable) throw new Error(`${name} is not valid: ${issue.message}`);
  throw new Error(`${name} is ${JSON.stringify(vars[name])} but must be ${issue?.message}`);
}

/** Makes the schema of a variable that is read from text. `read` returns undefined for text that it cannot use. */
function variable<T>(expected: string, fallback: T, read: (text: string) => T | undefined) {
  return z
    .unknown()
    .optional()
    .transform((value, ctx): T => {
      if (value === undefined || value === "") return fallback;
      const result = typeof value === "string" ? read(value) : undefined;
      if (result !== undefined) return result;
      ctx.addIssue({ code: "custom", message: expected });
      return z.NEVER;
    });
}

export function text(fallback: string) {
  return variable("a text", fallback, (value) => value);
}

export function optionalText() {
  return variable<string | null>("a text", null, (value) => value);
}

export function wholeNumber(fallback: number) {
  return variable("a whole number greater than 0", fallback, (value) => {
    const number = Number(value);
    return /^\d+$/.test(value) && Number.isSafeInteger(number) && number > 0 ? number : undefined;
  });
}

/** A number of seconds in the variable; its value is in milliseconds. */
export function seconds(fallbackSeconds: number) {
  return wholeNumber(fallbackSeconds).transform((value) => value * 1000);
}

export function oneOf<const T extends string, const F extends T | null>(
  allowed: readonly T[],
  fallback: F,
) {
  return variable<T | F>(`one of ${allowed.join(", ")}`, fallback, (value) =>
    allowed.find((candidate) => candidate === value),
  );
}

/** Whether the variable is the first of the two allowed words. */
export function isFirstOf(words: readonly [yes: string, no: string], fallback: boolean) {
  return variable(`one of ${words.join(", ")}`, fallback, (value) =>
    words.includes(value) ? value === words[0] : undefined,
  );
}

export function uuid(fallback: string) {
  return variable("a UUID", fallback, (value) => (isUuid(value) ? value.toLowerCase() : undefined));
}

/** A host name, in lower case; null when none is configured. */
export function hostName() {
  return variable<string | null>("a host name without a port", null, (value) =>
    /^[a-z0-9.-]+$/i.test(value) ? value.toLowerCase() : undefined,
  );
}

export function webAddress() {
  return variable<string | null>("a URL that begins with https:// or http://", null, (value) =>
    /^https?:$/.test(URL.parse(value)?.protocol ?? "") ? value : undefined,
  );
}

export function hostList(fallback: string) {
  return variable(
    "host names separated by commas, * or none",
    parseHostList(fallback) ?? [],
    (value) => parseHostList(value.trim() === "" ? fallback : value) ?? undefined,
  );
}

export function addressRanges() {
  return variable("IP addresses or ranges of them separated by commas", [], (value) => {
    try {
      return parseAddressRanges(value);
    } catch {
      return undefined;
    }
  });
}

/** A table in wrangler.toml, or JSON text elsewhere. Members that are left out get the schema's defaults. */
export function table<S extends z.ZodType>(schema: S) {
  return z
    .unknown()
    .optional()
    .transform((value, ctx): z.output<S> => {
      const refuse = (message: string): never => {
        ctx.addIssue({ code: "custom", message, params: { isTable: true } });
        return z.NEVER;
      };
      const given =
        typeof value === "string" && value !== "" ? jsonOrUndefined(value) : value || {};
      if (given === undefined) return refuse("it is not a JSON object");
      const result = schema.safeParse(given);
      return result.success ? result.data : refuse(z.prettifyError(result.error));
    });
}
