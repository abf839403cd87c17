import type { ApiDocument } from "./plain-reference.ts";

type Operation = { responses: Record<string, unknown> };

const FIELD = {
  type: "object",
  properties: {
    loc: { type: "array", items: { type: ["string", "number"] } },
    msg: { type: "string" },
    type: { type: "string" },
  },
  required: ["loc", "msg", "type"],
};

const FIELDS = { type: "array", items: FIELD };

const SCHEMAS = {
  ApiError: {
    type: "object",
    description: "`detail` is a sentence, or one entry for each refused field.",
    properties: { detail: { anyOf: [{ type: "string" }, FIELDS] } },
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
      errors: FIELDS,
      request_id: { type: "string" },
    },
    required: ["type", "title", "status", "detail", "instance"],
  },
};

const ERROR = response("application/json", "ApiError");
const PROBLEM = response("application/problem+json", "ProblemDetails");

function response(type: string, schema: keyof typeof SCHEMAS): object {
  const content = { [type]: { schema: { $ref: `#/components/schemas/${schema}` } } };
  return { description: "Any other status is an error", content };
}

/** Says of each operation how its errors look; those below `problemPrefix` are RFC 9457's. */
export function withErrors<T extends ApiDocument>(document: T, problemPrefix: string): T {
  for (const [path, operations] of Object.entries(document.paths ?? {})) {
    const error = path.startsWith(`${problemPrefix}/`) ? PROBLEM : ERROR;
    for (const operation of Object.values(operations) as Operation[]) {
      operation.responses["default"] ??= error;
    }
  }
  const schemas = { ...document.components?.schemas, ...SCHEMAS };
  return { ...document, components: { ...document.components, schemas } };
}
