import { isObject } from "../lib/json.ts";
/** The parts of an OpenAPI document that the page shows. */
export type ApiDocument = {
  info: { title: string; version: string };
  paths?: Record<string, object> | undefined;
  components?: { schemas?: Record<string, unknown> | undefined } | undefined;
};

type Operation = {
  method: string;
  path: string;
  tag: string;
  summary: string;
  parameters: unknown[];
  body: unknown;
  responses: Record<string, unknown>;
};

const STYLE = `
  :root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent); }
  body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
  h2 { margin-top: 2.5rem; }
  details { border: 1px solid var(--line); border-radius: 6px; margin: .4rem 0; }
  summary { cursor: pointer; padding: .5rem .8rem; }
  details > div { padding: 0 .8rem .8rem; border-top: 1px solid var(--line); }
  code, pre { font: 13px/1.45 ui-monospace, monospace; }
  pre { overflow-x: auto; padding: .6rem; border: 1px solid var(--line); border-radius: 4px; }
  .method { display: inline-block; width: 4.2rem; font-weight: 700; }
  .about { opacity: .7; margin-left: .6rem; }
`;

/** The API reference as one page of HTML, which loads nothing from anywhere. */
export function renderPlainReference(document: ApiDocument): string {
  const operations = operationsOf(document);
  const tags = [...new Set(operations.map(({ tag }) => tag))];
  const title = escape(`${document.info.title} ${document.info.version}`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${title}</h1>
<p>The same as <a href="/openapi.json">OpenAPI document</a>, for tools.</p>
${tags.map((tag) => renderTag(tag, operations)).join("\n")}
<h2>Schemas</h2>
${Object.entries(document.components?.schemas ?? {})
  .map(renderSchema)
  .join("\n")}
</body>
</html>
`;
}

function renderTag(tag: string, operations: readonly Operation[]): string {
  const own = operations.filter((operation) => operation.tag === tag);
  return `<h2>${escape(tag)}</h2>\n${own.map(renderOperation).join("\n")}`;
}

function renderOperation(operation: Operation): string {
  const { method, path, summary, parameters, body, responses } = operation;
  const parts = [
    parameters.length > 0 ? `<h4>Parameters</h4>${json(parameters)}` : "",
    body === undefined ? "" : `<h4>Body</h4>${json(body)}`,
    ...Object.entries(responses).map(
      ([status, response]) => `<h4>Response ${escape(status)}</h4>${json(response)}`,
    ),
  ];
  return `<details><summary><code><span class="method">${method}</span>${escape(path)}</code>\
<span class="about">${escape(summary)}</span></summary><div>${parts.join("")}</div></details>`;
}

function renderSchema([name, schema]: [string, unknown]): string {
  return `<details id="${escape(name)}"><summary><code>${escape(name)}</code></summary>\
<div>${json(schema)}</div></details>`;
}

function operationsOf(document: ApiDocument): Operation[] {
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

/** Pretty-printed, with references to schemas as links. */
function json(value: unknown): string {
  const text = escape(JSON.stringify(value, null, 2));
  const linked = text.replaceAll(
    /&quot;#\/components\/schemas\/([\w.-]+)&quot;/g,
    (_whole, name: string) => `<a href="#${name}">${name}</a>`,
  );
  return `<pre>${linked}</pre>`;
}

function escape(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
