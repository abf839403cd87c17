import { Ajv2020 } from "ajv/dist/2020.js";
import type { ApiDocument, Operation } from "./document.ts";

export type FuzzAnswer = { status: number; type: string; text: string };

const DOCUMENT_ID = "document";

/** Compares answers with a document. */
export class AnswerChecks {
  readonly #ajv: Ajv2020;

  constructor(document: ApiDocument) {
    // The document's keywords outside of the schemas are not keywords of JSON Schema.
    this.#ajv = new Ajv2020({ strict: false, validateFormats: false });
    this.#ajv.addSchema({ $id: DOCUMENT_ID, ...document });
  }

  /** Returns what is wrong with an answer, or null. */
  problemOf(operation: Operation, { status, type, text }: FuzzAnswer): string | null {
    if (status >= 500) return `gave ${status}: ${text.slice(0, 300)}`;
    const key = String(status) in operation.responses ? String(status) : "default";
    const described = operation.responses[key];
    if (described === undefined || (key === "default" && status < 400)) {
      return `gave ${status}, which the document does not know: ${text.slice(0, 100)}`;
    }
    const types = Object.keys(described.content ?? {});
    if (types.length === 0) {
      return text === "" ? null : `gave ${status} with a body, which the document has none for`;
    }
    const expected = types.find((each) => type.startsWith(each));
    if (expected === undefined) return `gave ${type || "no type"} instead of ${types.join(" or ")}`;
    return expected === "application/json"
      ? this.#jsonProblem(operation, { key, type: expected }, text)
      : null;
  }

  #jsonProblem(
    { method, path }: Operation,
    { key, type }: { key: string; type: string },
    text: string,
  ): string | null {
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch {
      return `gave a body that is no JSON: ${text.slice(0, 100)}`;
    }
    const place = [
      "paths",
      path,
      method.toLowerCase(),
      "responses",
      key,
      "content",
      type,
      "schema",
    ];
    const ref = `${DOCUMENT_ID}#/${place.map(pointer).join("/")}`;
    const validate = this.#ajv.getSchema(ref);
    if (validate === undefined || validate(json)) return null;
    const [error] = validate.errors ?? [];
    return `gave ${key} with a body that is not as documented: ${error?.instancePath} ${error?.message}, in ${text.slice(0, 200)}`;
  }
}

/** Returns one step of a JSON pointer, encoded for a URI. */
function pointer(step: string): string {
  return encodeURIComponent(step.replaceAll("~", "~0").replaceAll("/", "~1"));
}
