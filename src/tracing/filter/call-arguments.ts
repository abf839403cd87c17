import { describeArgument } from "./field-value.ts";
import {
  FIELD_NAMES,
  type FieldName,
  fieldOf,
  FUNCTION_NAMES,
  type FunctionName,
} from "./fields.ts";
import { FilterError, unexpected } from "./filter-error.ts";
import { quoted } from "./lexer.ts";
import { suggestion } from "./nearest-name.ts";
import type { Argument, Call } from "./syntax.ts";

/** All of these throw a FilterError for what does not fit. */

export function functionName(call: Call): FunctionName {
  const name = FUNCTION_NAMES.find((known) => known === call.name);
  if (name !== undefined) return name;
  const problem =
    `unknown function ${call.name}${suggestion(call.name, FUNCTION_NAMES)} ` +
    `(functions: ${FUNCTION_NAMES.join(", ")})`;
  throw new FilterError(call.at, problem, "a function");
}

/** Exactly as many as there are names for them. */
export function takeArguments<Names extends string[]>(
  call: Call,
  ...names: Names
): { [Index in keyof Names]: Argument } {
  const { name, args } = call;
  if (args.length !== names.length) {
    const expected = `${names.length} argument${names.length === 1 ? "" : "s"}`;
    const problem = `${name} takes ${expected} (${names.join(", ")}), not ${args.length}`;
    throw new FilterError(args[names.length]?.at ?? call.end, problem, names.join(", "));
  }
  return args as { [Index in keyof Names]: Argument };
}

/** The field an argument names, bare or in quotes, when the function can be used with it. */
export function toField(argument: Argument, used: FunctionName): FieldName {
  if (argument.kind !== "name" && argument.kind !== "string") {
    throw unexpected(argument.at, "a field such as name", describeArgument(argument));
  }
  const given = argument.kind === "name" ? argument.name : argument.value;
  const field = FIELD_NAMES.find((name) => name === given);
  if (field === undefined) {
    const shown = argument.kind === "name" ? given : quoted(given);
    const problem =
      `unknown field ${shown}${suggestion(given, FIELD_NAMES)} ` +
      `(fields: ${FIELD_NAMES.join(", ")})`;
    throw new FilterError(argument.at, problem, "a field");
  }
  const { functions } = fieldOf(field);
  if (!functions.includes(used)) {
    const expected = functions.join(", ");
    const problem = `${used} cannot be used with ${field}, only ${expected}`;
    throw new FilterError(argument.at, problem, expected);
  }
  return field;
}

/** `rule` says what is taken, for the message. */
export function toText(argument: Argument, rule: string): string {
  if (argument.kind === "string") return argument.value;
  const problem = `${rule}, not ${describeArgument(argument)}`;
  throw new FilterError(argument.at, problem, "a text in quotes");
}
