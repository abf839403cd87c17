import { isObject } from "../../lib/json.ts";
import {
  escape,
  exampleOf,
  fieldsHtml,
  type Schemas,
  SCRIPT,
  STYLE,
  typeHtml,
} from "./schema-html.ts";

/** The parts of an OpenAPI document that the page shows. */
export type ApiDocument = {
  info: { title: string; version: string };
  paths?: Record<string, object> | undefined;
  components?: { schemas?: Record<string, unknown> | undefined } | undefined;
};

type ShownOperation = {
  method: string;
  path: string;
  tag: string;
  summary: string;
  parameters: unknown[];
  body: unknown;
  responses: Record<string, unknown>;
};

/** Renders the API reference as one page of HTML that loads nothing else. */
export function renderReference(document: ApiDocument): string {
  const operations = operationsOf(document);
  const schemas = document.components?.schemas ?? {};
  const tags = [...new Set(operations.map(({ tag }) => tag))];
  const title = escape(`${document.info.title} ${document.info.version}`);
  const sections = tags.map((tag) => {
    const own = operations.filter((operation) => operation.tag === tag);
    return `<section><h2 id="${anchor(tag)}">${escape(tag)}</h2>${own
      .map((operation) => operationHtml(operation, schemas))
      .join("")}</section>`;
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<div class="columns">
<nav aria-label="Sections">
<input type="search" aria-label="Find an operation" placeholder="Find an operation" hidden>
<ul>${[...tags, "Schemas"].map((tag) => `<li><a href="#${anchor(tag)}">${escape(tag)}</a></li>`).join("")}</ul>
</nav>
<main>
<h1>${title}</h1>
<p class="note">The same reference for tools: <a href="openapi.json">openapi.json</a>. Send an API key in the header <code>x-api-key</code>.</p>
${sections.join("\n")}
<section><h2 id="${anchor("Schemas")}">Schemas</h2>${Object.entries(schemas)
    .map(([name, schema]) => schemaHtml(name, schema, schemas))
    .join("")}</section>
</main>
</div>
<script>${SCRIPT}</script>
</body>
</html>
`;
}

function operationHtml(operation: ShownOperation, schemas: Schemas): string {
  const { method, path, summary, parameters, body, responses } = operation;
  const schema = schemaIn(body);
  const parts = [
    parameters.length === 0 ? "" : `<h3>Parameters</h3>${parametersHtml(parameters)}`,
    schema === undefined ? "" : `<h3>Body: ${typeHtml(schema)}</h3>${fieldsHtml(schema, schemas)}`,
    `<h3>Try it</h3><pre tabindex="0">${escape(command(operation, schemas))}</pre>`,
    "<h3>Answers</h3>",
    answersHtml(responses),
  ];
  return `<details id="${anchor(`${method} ${path}`)}"><summary><code><span class="method">${method}</span>${escape(path)}</code>\
<span class="about">${escape(summary)}</span></summary><div>${parts.join("")}</div></details>`;
}

function parametersHtml(parameters: readonly unknown[]): string {
  const rows = parameters.filter(isObject).map((parameter) => {
    const { name, in: place, required, schema } = parameter;
    const words = isObject(schema) ? schema["description"] : undefined;
    return `<li><code>${escape(String(name))}</code> <span class="type">${typeHtml(schema)}, in the ${escape(String(place))}\
${required === true ? ", required" : ""}</span>${typeof words === "string" ? `<p class="note">${escape(words)}</p>` : ""}</li>`;
  });
  return `<ul class="fields">${rows.join("")}</ul>`;
}

function answersHtml(responses: Record<string, unknown>): string {
  const rows = Object.entries(responses).map(([status, response]) => {
    const said = isObject(response) ? response["description"] : undefined;
    const words = typeof said === "string" ? said : "";
    const schema = schemaIn(response);
    const type = schema === undefined ? "" : ` <span class="type">${typeHtml(schema)}</span>`;
    return `<li><code>${escape(status)}</code>${type}<p class="note">${escape(words)}</p></li>`;
  });
  return `<ul class="fields">${rows.join("")}</ul>`;
}

function schemaHtml(name: string, schema: unknown, schemas: Schemas): string {
  const fields = fieldsHtml(schema, schemas, 1);
  return `<details id="${escape(name)}"><summary><code>${escape(name)}</code></summary>\
<div>${fields === "" ? `<p class="type">${typeHtml(schema)}</p>` : fields}</div></details>`;
}

/** Returns a shell command that sends the request. Readers set `$SERVER` and `$API_KEY` themselves. */
function command({ method, path, body }: ShownOperation, schemas: Schemas): string {
  const schema = schemaIn(body);
  const data =
    schema === undefined ? "" : ` \\\n  -d '${JSON.stringify(exampleOf(schema, schemas))}'`;
  const verb = method === "GET" ? "" : `-X ${method} `;
  return `curl ${verb}"$SERVER${path}" -H "x-api-key: $API_KEY"${data}`;
}

/** Returns the JSON schema of a body or a response. */
function schemaIn(part: unknown): unknown {
  const content = isObject(part) ? part["content"] : undefined;
  const json = isObject(content) ? content["application/json"] : undefined;
  return isObject(json) ? json["schema"] : undefined;
}

function operationsOf(document: ApiDocument): ShownOperation[] {
  return Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      if (!isObject(operation)) return [];
      const { tags, summary, parameters, requestBody, responses } = operation;
      return {
        method: method.toUpperCase(),
        path,
        tag: Array.isArray(tags) ? String(tags[0]) : "Other",
        summary: typeof summary === "string" ? summary : "",
        parameters: Array.isArray(parameters) ? parameters : [],
        body: requestBody,
        responses: isObject(responses) ? responses : {},
      };
    }),
  );
}

/** Returns an element id that begins with a dash, so that it differs from the name of every schema. */
function anchor(text: string): string {
  return `-${escape(text.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-"))}`;
}
