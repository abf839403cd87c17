import { isObject } from "../../lib/json.ts";
/** The model that a run called. */
export type RunModel = {
  /** The name found by the default match path. */
  name: string | null;
  provider: string | null;
  /** The texts among the invocation parameters, which a price's `match_path` may name. */
  fields: Readonly<Record<string, string>>;
};

/** The parameters that may hold a model's name, in order of precedence, unless a price specifies others. */
export const DEFAULT_MATCH_PATH = [
  "model",
  "model_name",
  "model_id",
  "model_path",
  "endpoint_name",
] as const;

/** Maximum length of a name. */
const MAX_FIELD_CHARS = 256;

/**
 * Returns the model that a run's `extra` names. `metadata.ls_model_name`, which SDKs set whatever the model's own
 * parameters are called, takes the place of `model` and `model_name`.
 */
export function modelOf(extra: unknown): RunModel {
  const fields: Record<string, string> = {};
  for (const [key, value] of Object.entries(objectIn(extra, "invocation_params") ?? {})) {
    const text = nameOf(value);
    if (text !== null) fields[key] = text;
  }
  const metadata = objectIn(extra, "metadata");
  const known = nameOf(metadata?.["ls_model_name"]);
  if (known !== null) fields["model"] = fields["model_name"] = known;
  return {
    name: nameAt(fields, DEFAULT_MATCH_PATH),
    provider: nameOf(metadata?.["ls_provider"]),
    fields,
  };
}

/** Returns the first member of the path that is present. */
export function nameAt(fields: RunModel["fields"], path: readonly string[]): string | null {
  for (const key of path) {
    const name = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (name !== undefined) return name;
  }
  return null;
}

function objectIn(value: unknown, key: string): Record<string, unknown> | null {
  if (!isObject(value)) return null;
  const member = value[key];
  return isObject(member) ? member : null;
}

function nameOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" && value.length <= MAX_FIELD_CHARS
    ? value
    : null;
}
