import fc from "fast-check";
import type { ApiDocument, Content, Operation, Parameter } from "./document.ts";
import { hostile, type KnownIds, SchemaValues } from "./values.ts";

export type FuzzRequest = {
  method: string;
  /** The path with its query. */
  target: string;
  headers: Record<string, string>;
  body: string | undefined;
};

const JSON_TYPE = "application/json";

/** Bodies that are invalid JSON, or JSON that no body can be. */
const BROKEN_BODIES = ["", "{", "[", "null", "7", '"text"', "[{}]", '{"a":1e999}', "\u{feff}{}"];

/** Returns requests for one operation, most of which are valid by the document. */
export function requestsFor(
  operation: Operation,
  { document, ids }: { document: ApiDocument; ids: KnownIds },
): fc.Arbitrary<FuzzRequest> {
  const values = new SchemaValues(document, ids);
  const path = pathOf(operation, values, ids);
  const query = queryOf(operation, values);
  const body = bodyOf(operation.body, values);
  return fc.tuple(path, query, body).map(([target, search, { headers, text }]) => ({
    method: operation.method,
    target: search === "" ? target : `${target}?${search}`,
    headers,
    body: text,
  }));
}

function pathOf(operation: Operation, values: SchemaValues, ids: KnownIds): fc.Arbitrary<string> {
  const parts = operation.path.split(/\{(\w+)\}/).map((part, index) => {
    if (index % 2 === 0) return fc.constant(part);
    const known = ids.get(part) ?? [];
    const schema = operation.parameters.find(({ name }) => name === part)?.schema ?? {};
    const described = values.of(schema, part).map(segment);
    return known.length === 0
      ? described
      : fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...known).map(segment) }, described);
  });
  return fc.tuple(...parts).map((texts) => texts.join(""));
}

/** Returns a path segment. It must not be empty or dots, which would be another path. */
function segment(value: unknown): string {
  const text = toText(value);
  return /^\.{0,2}$/.test(text) ? "x" : encodeURIComponent(text);
}

function queryOf(operation: Operation, values: SchemaValues): fc.Arbitrary<string> {
  const parameters = operation.parameters.filter(({ in: place }) => place === "query");
  const pairs = parameters.map((parameter) => {
    const value = values.of(parameter.schema, parameter.name);
    return fc.option(value, { freq: parameter.required ? 10 : 1, nil: undefined }).map((given) => {
      return given === undefined ? [] : [given].flat().map((one) => pair(parameter, one));
    });
  });
  const unknown = fc.option(fc.constant(["fuzz=1"]), { freq: 1, nil: [] });
  return fc.tuple(...pairs, unknown).map((all) => all.flat().join("&"));
}

function pair({ name }: Parameter, value: unknown): string {
  return `${encodeURIComponent(name)}=${encodeURIComponent(toText(value))}`;
}

/** Returns a text that can be sent, unlike a lone surrogate. */
function toText(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return text.toWellFormed();
}

type Body = { headers: Record<string, string>; text: string | undefined };

function bodyOf(content: Content | undefined, values: SchemaValues): fc.Arbitrary<Body> {
  if (content === undefined) return fc.constant({ headers: {}, text: undefined });
  const types = Object.entries(content).map(([type, { schema = {} }]) => {
    const value = type.includes("json") ? values.of(schema) : hostile;
    return value.map((json) => body(type, JSON.stringify(json) ?? ""));
  });
  return fc.oneof(
    { weight: 20, arbitrary: fc.oneof(...types) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(...BROKEN_BODIES).map((text) => body(JSON_TYPE, text)),
    },
    { weight: 1, arbitrary: hostile.map((json) => body(JSON_TYPE, JSON.stringify(json) ?? "")) },
    { weight: 1, arbitrary: fc.constant(body("text/plain", "{}")) },
  );
}

function body(type: string, text: string): Body {
  return { headers: { "content-type": type }, text };
}
