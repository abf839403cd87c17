import {
  type ApiDocument,
  type Operation,
  operationsOf,
  resolved,
  type Schema,
} from "../verify/fuzz/document.ts";

/** Paths of the other surfaces, which are not on the agent server's page. */
const OTHER_SURFACES = /^\/(?:api|v1|v2|otel|scim)\//;

/** The schema type of a known field that is refused. */
const REFUSED = "null";

type Field = { name: string; refusal: string | null };

/** Returns a Markdown table of what each operation of the document takes, refuses and answers. */
export function coverageTable(document: ApiDocument): string {
  const rows = operationsOf(document)
    .filter(({ path }) => !OTHER_SURFACES.test(path))
    .toSorted((a, b) => compare(a.path, b.path) || compare(a.method, b.method))
    .map((operation) => rowOf(document, operation));
  return ["| request | takes | answers |", "| --- | --- | --- |", ...rows].join("\n");
}

/** Returns the known fields that are refused, each with the message that refuses it. */
export function refusedFields(document: ApiDocument): string {
  const requests = new Map<string, string[]>();
  for (const operation of operationsOf(document).filter(({ path }) => !OTHER_SURFACES.test(path))) {
    for (const { name, refusal } of fieldsOf(document, operation)) {
      if (refusal === null) continue;
      const line = `\`${name}\`: ${refusal}`;
      const request = `\`${operation.method} ${operation.path}\``;
      requests.set(line, [...(requests.get(line) ?? []), request]);
    }
  }
  const lines = [...requests].map(([line, of]) => `- ${line} (${of.toSorted(compare).join(", ")})`);
  return lines.toSorted(compare).join("\n");
}

function rowOf(document: ApiDocument, operation: Operation): string {
  const served = fieldsOf(document, operation).filter(({ refusal }) => refusal === null);
  const takes = served.map(({ name }) => `\`${name}\``).join(", ");
  return `| \`${operation.method} ${operation.path}\` | ${takes} | ${answersOf(document, operation)} |`;
}

function fieldsOf(document: ApiDocument, { parameters, body }: Operation): Field[] {
  const query = parameters.filter((parameter) => parameter.in === "query");
  const schema = body?.["application/json"]?.schema;
  return [
    ...query.map(({ name, schema }) => toField(`?${name}`, schema)),
    ...(schema === undefined
      ? []
      : Object.entries(membersOf(document, schema)).map(([name, member]) => toField(name, member))),
  ];
}

function toField(name: string, schema: Schema & { description?: string }): Field {
  const isRefused = schema.type === REFUSED && schema.description !== undefined;
  return { name, refusal: isRefused ? (schema.description ?? null) : null };
}

function membersOf(document: ApiDocument, schema: Schema): Record<string, Schema> {
  const { properties = {}, allOf = [], anyOf = [], oneOf = [], items } = resolved(document, schema);
  const parts = [...allOf, ...anyOf, ...oneOf, ...(items === undefined ? [] : [items])];
  return Object.assign({}, ...parts.map((part) => membersOf(document, part)), properties);
}

function answersOf(document: ApiDocument, { responses }: Operation): string {
  return Object.entries(responses)
    .filter(([status]) => status.startsWith("2"))
    .map(([status, { content = {} }]) => {
      const [[type, media] = []] = Object.entries(content);
      if (type !== "application/json") return type === undefined ? status : `${status} ${type}`;
      const names = Object.keys(membersOf(document, media?.schema ?? {}));
      return [status, names.map((name) => `\`${name}\``).join(", ")].join(" ").trim();
    })
    .join("; ");
}

function compare(left: string, right: string): number {
  return left < right ? -1 : Number(left > right);
}
