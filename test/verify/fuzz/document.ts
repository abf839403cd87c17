/** The part of JSON Schema from which values are made. */
export type Schema = {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  format?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
};

export type Parameter = { name: string; in: string; required?: boolean; schema: Schema };

export type Content = Record<string, { schema?: Schema }>;

/** The parts of an OpenAPI 3.1 document that are read here. */
export type ApiDocument = {
  paths: Record<string, Record<string, OperationObject>>;
  components: { schemas: Record<string, Schema> };
};

type OperationObject = {
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Content };
  responses: Record<string, { content?: Content }>;
};

export type Operation = {
  method: string;
  path: string;
  parameters: Parameter[];
  body: Content | undefined;
  /** Responses by status, or "default". */
  responses: OperationObject["responses"];
};

export async function readDocument(url: string): Promise<ApiDocument> {
  const response = await fetch(`${url}/openapi.json`);
  if (!response.ok) throw new Error(`/openapi.json gave ${response.status}`);
  return (await response.json()) as ApiDocument;
}

export function operationsOf({ paths }: ApiDocument): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [], requestBody, responses }]) => ({
      method: method.toUpperCase(),
      path,
      parameters,
      body: requestBody?.content,
      responses,
    })),
  );
}

/** Returns the schema that a reference points to. */
export function resolved({ components }: ApiDocument, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const name = schema.$ref.replace("#/components/schemas/", "");
  const found = components.schemas[name];
  if (found === undefined) throw new Error(`The document has no schema ${schema.$ref}`);
  return resolved({ components, paths: {} }, found);
}
