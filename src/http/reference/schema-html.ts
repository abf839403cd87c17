import { isObject } from "../../lib/json.ts";

/** Escapes text for use in HTML, in elements and in attributes. */
export function escape(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

/** The page's style. Its digest is in the page's policy, so the browser accepts no other. */
export const STYLE = `
:root { color-scheme: light dark; --paper: light-dark(#fbfaf8, #151412); --sunk: light-dark(#f3f1ed, #23211e);
  --line: light-dark(#e3dfd8, #33302b); --ink: light-dark(#1d1b18, #f0ede7); --ink-2: light-dark(#57524a, #bdb6aa);
  --accent: light-dark(#2f3fb8, #a3aefc); }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
.columns { display: grid; grid-template-columns: 15rem minmax(0, 1fr); gap: 2.5rem; max-width: 74rem; margin: 0 auto; padding: 0 1rem 4rem; }
nav { position: sticky; top: 0; max-height: 100vh; overflow: auto; padding: 1.5rem 0; font-size: 14px; }
nav ul { margin: 1rem 0 0; padding: 0; list-style: none; }
nav a { display: block; padding: .15rem 0; color: var(--ink-2); text-decoration: none; }
nav a:hover { color: var(--accent); }
input { width: 100%; padding: .4rem .6rem; border: 1px solid var(--line); border-radius: 7px; background: transparent; color: inherit; font: inherit; }
h1 { margin: 1.5rem 0 .25rem; font-size: 1.4rem; letter-spacing: -.02em; }
h2 { margin: 2.5rem 0 .5rem; font-size: 1.1rem; }
h3 { margin: 1rem 0 .25rem; color: var(--ink-2); font-size: .8rem; font-weight: 600; }
p { margin: .25rem 0; }
a { color: var(--accent); }
details { border-bottom: 1px solid var(--line); }
details:first-of-type { border-top: 1px solid var(--line); }
details > div { padding: 0 0 1.25rem 4.5rem; }
summary { display: flex; flex-wrap: wrap; gap: 0 1rem; padding: .45rem 0; cursor: pointer; list-style: none; }
summary:hover code { color: var(--accent); }
code, pre { font: 13px/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }
pre { margin: .5rem 0; padding: .6rem .8rem; overflow-x: auto; border-radius: 7px; background: var(--sunk); white-space: pre-wrap; }
.method { display: inline-block; width: 4.5rem; font-weight: 700; }
.about, .type, .note { color: var(--ink-2); font-size: 14px; }
.fields { margin: 0; padding: 0; list-style: none; }
.fields .fields { margin-left: .5rem; padding-left: 1rem; border-left: 1px solid var(--line); }
.fields > li { padding: .2rem 0; }
@media (max-width: 52rem) { .columns { display: block; } nav { position: static; max-height: none; padding-bottom: 0; }
  nav ul { columns: 2; } details > div { padding-left: 0; } }
`;

/** Filters the operations by a text in their path or summary. Its digest is in the page's policy, too. */
export const SCRIPT = `
const field = document.querySelector("input");
field.hidden = false;
field.addEventListener("input", () => {
  const text = field.value.trim().toLowerCase();
  for (const section of document.querySelectorAll("section")) {
    const all = [...section.querySelectorAll("details")];
    for (const one of all) one.hidden = !one.querySelector("summary").textContent.toLowerCase().includes(text);
    section.hidden = all.every((one) => one.hidden);
  }
});
const open = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target instanceof HTMLDetailsElement) target.open = true;
};
addEventListener("hashchange", open);
open();
`;

type Schema = Record<string, unknown>;

export type Schemas = Readonly<Record<string, unknown>>;

/** Maximum depth to which a schema is expanded where it is used. Below it, only its name is shown. */
const MAX_DEPTH = 4;

const REFERENCE = /^#\/components\/schemas\/([\w.-]+)$/;

/** Returns the name of the schema that this one refers to. */
function referenceOf(schema: Schema): string | undefined {
  const { $ref } = schema;
  return typeof $ref === "string" ? REFERENCE.exec($ref)?.[1] : undefined;
}

/** Describes a value's type in a few words. Names of schemas link to them. */
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

/** Renders the members of a schema as a list, with members of nested objects below their own. */
export function fieldsHtml(schema: unknown, schemas: Schemas, depth = 0): string {
  if (!isObject(schema) || depth > MAX_DEPTH) return "";
  const name = referenceOf(schema);
  // A referenced schema has its own section in the page.
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

/** Returns an example value of the schema with its required members only. */
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
