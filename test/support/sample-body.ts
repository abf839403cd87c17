import { MISSING_ID } from "./uuid.ts";

/** The part of JSON Schema that the OpenAPI document uses. */
export type Schema = {
  $ref?: string;
  type?: string | string[];
  format?: string;
  const?: unknown;
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: unknown;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  minItems?: number;
  minLength?: number;
  minimum?: number;
};

export type Schemas = Record<string, Schema>;

type Place = { path: string; value: Record<string, unknown> };

/**
 * Returns a value that a schema describes, with every nested object, and those of its objects that list their members.
 * Their `path` has the form of `x-ignored-fields`: empty, or with a trailing dot.
 */
export function sampleOf(schema: Schema, schemas: Schemas): { value: unknown; objects: Place[] } {
  const objects: Place[] = [];
  return { value: sample(schema, "", { schemas, objects }), objects };
}

type Context = { schemas: Schemas; objects: Place[] };

function sample(given: Schema, path: string, context: Context): unknown {
  const schema = resolved(given, context.schemas);
  const [choice] = (schema.anyOf ?? schema.oneOf ?? []).toSorted(
    (left, right) => depthOf(right, context.schemas) - depthOf(left, context.schemas),
  );
  if (choice !== undefined) return sample(choice, path, context);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.properties !== undefined) return sampleObject(schema, path, context);
  const type = [schema.type].flat().find((each) => each !== "null");
  if (type === "array") {
    const items = schema.items;
    return items === undefined ? [] : [sample(items, `${path.replace(/\.$/, "")}[].`, context)];
  }
  if (type === "integer" || type === "number") return schema.minimum ?? 1;
  if (type === "boolean") return true;
  if (type === "object") return {};
  if (type !== "string") return null;
  if (schema.format === "uuid") return MISSING_ID;
  if (schema.format === "date-time") return "2026-08-01T00:00:00Z";
  return "x".repeat(Math.max(schema.minLength ?? 0, 3));
}

function sampleObject(schema: Schema, path: string, context: Context): unknown {
  const value: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    // A member of any type may be required, although the document cannot say so.
    const isAnything = member.$ref === undefined && member.type === undefined && !member.anyOf;
    const isNeeded = isAnything || (schema.required?.includes(name) ?? false);
    if (!isNeeded && depthOf(member, context.schemas) === 0) continue;
    value[name] = sample(member, `${path}${name}.`, context);
  }
  const listsMembers = schema.additionalProperties === undefined;
  if (listsMembers) context.objects.push({ path, value });
  return value;
}

/** Returns how directly the value contains an object that lists its members: 0 if it contains none. */
function depthOf(given: Schema, schemas: Schemas): number {
  const { properties, items, anyOf, oneOf } = resolved(given, schemas);
  if (properties !== undefined) return 2;
  const below = [...(anyOf ?? []), ...(oneOf ?? []), ...(items === undefined ? [] : [items])];
  const depth = Math.max(0, ...below.map((each) => depthOf(each, schemas)));
  return items === undefined ? depth : depth / 2;
}

function resolved(schema: Schema, schemas: Schemas): Schema {
  const own =
    schema.$ref === undefined ? schema : (schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {});
  if (own.allOf === undefined) return own;
  const parts = own.allOf.map((part) => resolved(part, schemas));
  return Object.assign({}, ...parts, {
    properties: Object.assign({}, ...parts.map(({ properties }) => properties ?? {})),
    required: parts.flatMap(({ required }) => required ?? []),
  });
}
