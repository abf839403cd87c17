import { type ApiDocument, renderReference } from "./reference-page.ts";
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { AppEnv } from "../app-types.ts";
import { SCRIPT, STYLE } from "./schema-html.ts";

type Operation = {
  parameters?: unknown[];
  requestBody?: unknown;
  security?: unknown[];
  responses: Record<string, { content?: object }>;
};

const FIELD = {
  type: "object",
  properties: {
    loc: { type: "array", items: { type: ["string", "number"] } },
    msg: { type: "string" },
    type: { type: "string" },
  },
  required: ["loc", "msg", "type"],
};

const SCHEMAS = {
  ErrorResponse: {
    type: "object",
    description:
      "`detail` is a sentence; for an internal error, `request_id` is the id of the request.",
    properties: { detail: { type: "string" }, request_id: { type: "string" } },
    required: ["detail"],
  },
  ValidationError: FIELD,
  HTTPValidationError: {
    type: "object",
    description: "`detail` has one entry for each refused field.",
    properties: { detail: { type: "array", items: reference("ValidationError") } },
    required: ["detail"],
  },
  ProblemDetails: {
    type: "object",
    description: "RFC 9457; `errors` has one entry for each refused field.",
    properties: {
      type: { type: "string" },
      title: { type: "string" },
      status: { type: "integer" },
      detail: { type: "string" },
      instance: { type: "string" },
      errors: { type: "array", items: reference("ValidationError") },
      request_id: { type: "string" },
    },
    required: ["type", "title", "status", "detail", "instance"],
  },
};

function reference(schema: string): { $ref: string } {
  return { $ref: `#/components/schemas/${schema}` };
}

/** Methods with a body. Some routes read their bodies themselves and describe none. */
const WITH_BODY = new Set(["post", "put", "patch", "delete"]);

/** The content type and the schemas of a surface's errors. */
type ErrorStyle = { type: string; error: object; refusedFields: object };

const DETAIL: ErrorStyle = {
  type: "application/json",
  error: reference("ErrorResponse"),
  // When no single field is at fault, the detail is a sentence.
  refusedFields: { anyOf: [reference("HTTPValidationError"), reference("ErrorResponse")] },
};

const PROBLEM: ErrorStyle = {
  type: "application/problem+json",
  error: reference("ProblemDetails"),
  refusedFields: reference("ProblemDetails"),
};

/**
 * Adds the errors of each operation to a document. Errors of paths below `problemPrefix` have the format of RFC
 * 9457.
 */
export function withErrors<T extends ApiDocument>(document: T, problemPrefix: string): T {
  for (const [path, operations] of Object.entries(document.paths ?? {})) {
    const style = path.startsWith(`${problemPrefix}/`) ? PROBLEM : DETAIL;
    for (const [method, operation] of Object.entries(operations) as [string, Operation][]) {
      const takesBody = operation.requestBody !== undefined || WITH_BODY.has(method);
      const errors = errorsOf(path, operation, takesBody, style);
      for (const [status, described] of Object.entries(operation.responses)) {
        if (Number(status) >= 400) described.content ??= contentOf(style.type, style.error);
      }
      operation.responses = { ...errors, ...operation.responses };
    }
  }
  const schemas = { ...document.components?.schemas, ...SCHEMAS };
  return { ...document, components: { ...document.components, schemas } };
}

function errorsOf(
  path: string,
  { parameters = [], security }: Operation,
  takesBody: boolean,
  { type, error, refusedFields }: ErrorStyle,
): Record<string, { content: object }> {
  const respond = (description: string, schema: object) => ({
    description,
    content: contentOf(type, schema),
  });
  const isOpen = security?.length === 0;
  return {
    ...(isOpen ? {} : { 401: respond("The API key is missing or invalid", error) }),
    ...(isOpen ? {} : { 403: respond("The key does not allow this", error) }),
    ...(path.includes("{") ? { 404: respond("It does not exist for this caller", error) } : {}),
    ...(takesBody ? { 413: respond("The body is too large", error) } : {}),
    ...(takesBody || parameters.length > 0
      ? { 422: respond("A parameter or a field of the body is not valid", refusedFields) }
      : {}),
    429: respond("There were too many requests", error),
    default: respond("Any other status is an error", error),
  };
}

function contentOf(type: string, schema: object): object {
  return { [type]: { schema } };
}

/**
 * Removes `additionalProperties: false`. Strict schemas of requests would claim to refuse other members, but the
 * server ignores these; responses are described by schemas that are not strict.
 */
export function withoutStrictness(document: object): ApiDocument & object {
  const text = JSON.stringify(document, (key, value: unknown) =>
    key === "additionalProperties" && value === false ? undefined : value,
  );
  return JSON.parse(text);
}

/**
 * Serves `/openapi.json`, and `/docs` for people: one page that loads nothing, so that it depends on no other
 * host.
 */
export function describeApi(app: OpenAPIHono<AppEnv>, describe: () => ApiDocument & object): void {
  let policy: Promise<string> | null = null;
  app.get("/openapi.json", (c) => c.json(describe()));
  // The former address of the page. The target is relative, because a deployment may be below a path.
  app.get("/docs/plain", (c) => c.redirect("../docs"));
  app.get("/docs", async (c) => {
    c.header("content-security-policy", await (policy ??= contentSecurityPolicy()));
    c.header("x-content-type-options", "nosniff");
    return c.html(renderReference(describe()));
  });
}

/** Allows the page's own style and script, by their digests, and nothing else. */
async function contentSecurityPolicy(): Promise<string> {
  return [
    "default-src 'none'",
    `style-src '${await digestOf(STYLE)}'`,
    `script-src '${await digestOf(SCRIPT)}'`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

async function digestOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return `sha256-${Buffer.from(digest).toString("base64")}`;
}
