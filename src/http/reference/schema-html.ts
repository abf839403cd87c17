import { isObject } from "../../lib/json.ts";
import { escape } from "./html.ts";

type Schema = Record<string, unknown>;

export type Schemas = Readonly<Record<string, unknown>>;

/** A schema in a schema is shown where it is used, down to here; below it has its name only. */
const MAX_DEPTH = 4;

const REFERENCE = /^#\/components\/schemas\/([\w.-]+)$/;

/** The name of the schema that another one stands for. */
function referenceOf(schema: Schema): string | undefined {
  const { $ref } = schema;
  return typeof $ref === "string" ? REFERENCE.exec($ref)?.[1] : undefined;
}

/** What a value is, in a few words; names of schemas lead to them. */
export function typeHtml(schema: unknown): string {
  if (!isObject(schema)) return "anything";
  const name = referenceOf(schema);
  if (name !== undefined) return `<a href="#${escape(name)}">${escape(name)}</a>`;
  const { type, format, items, additionalProperties, anyOf, oneOf, allOf } = schema;
  const values = schema["const"] === undefined ? schema["enum"] : [schema["const"]];
  if (Array.isArray(values)) return values.map((one) => code(JSON.stringify(one))).join(", ");
  for (const [branches, word] of [
    [anyOf, " or "],
    [oneOf, " or "],
    [allOf, " and "],
  ] as const) {
    if (Array.isArray(branches)) return branches.map(typeHtml).join(word);
  }
  if (Array.isArray(type)) return escape(type.join(" or "));
  if (type === "array") return `list of ${typeHtml(items)}`;
  if (type === "object" && isObject(additionalProperties)) {
    return `object of ${typeHtml(additionalProperties)}`;
  }
  if (typeof type !== "string") return "anything";
  return escape(typeof format === "string" ? `${type}, ${format}` : type);
}

/** The members of a schema as a list, those of objects within it below their own. */
export function fieldsHtml(schema: unknown, schemas: Schemas, depth = 0): string {
  if (!isObject(schema) || depth > MAX_DEPTH) return "";
  const name = referenceOf(schema);
  // A schema within another has a place of its own in the page.
  if (name !== undefined) return depth === 0 ? fieldsHtml(schemas[name], schemas, 1) : "";
  const { properties, required, items } = schema;
  if (items !== undefined) return fieldsHtml(items, schemas, depth);
  if (!isObject(properties)) return "";
  const isRequired = (key: string): boolean => Array.isArray(required) && required.includes(key);
  const rows = Object.entries(properties).map(([key, member]) => {
    const words =
      isObject(member) && typeof member["description"] === "string" ? member["description"] : "";
    return `<li>${code(key)} <span class="type">${typeHtml(member)}${isRequired(key) ? ", required" : ""}</span>\
${words === "" ? "" : `<p class="note">${escape(words)}</p>`}${fieldsHtml(member, schemas, depth + 1)}</li>`;
  });
  return `<ul class="fields">${rows.join("")}</ul>`;
}

/** A value that the schema could have, with what is required and nothing else. */
export function exampleOf(schema: unknown, schemas: Schemas, depth = 0): unknown {
  if (!isObject(schema) || depth > MAX_DEPTH) return null;
  const name = referenceOf(schema);
  if (name !== undefined) return exampleOf(schemas[name], schemas, depth + 1);
  const { type, properties, required, anyOf, oneOf, allOf } = schema;
  const [branch] = [anyOf, oneOf, allOf].find(Array.isArray) ?? [];
  if (branch !== undefined) return exampleOf(branch, schemas, depth + 1);
  const values = schema["enum"];
  if (Array.isArray(values)) return values[0];
  if (schema["const"] !== undefined) return schema["const"];
  if (isObject(properties)) {
    const keys = Array.isArray(required) ? required.filter((key) => typeof key === "string") : [];
    return Object.fromEntries(
      keys.map((key) => [key, exampleOf(properties[key], schemas, depth + 1)]),
    );
  }
  const plain: Record<string, unknown> = {
    string: "...",
    integer: 1,
    number: 1,
    boolean: true,
    array: [],
    object: {},
  };
  return typeof type === "string" ? (plain[type] ?? null) : null;
}

function code(text: string): string {
  return `<code>${escape(text)}</code>`;
}
