import { type JsonObject, objectOf } from "./attribute-access.ts";
import { indexedItems } from "./nested-attributes.ts";
import type { Attributes } from "./span.ts";

/** The documents that a retriever of OpenInference returned; undefined when there are none. */
export function retrievedDocuments(attributes: Attributes): JsonObject | undefined {
  const documents: JsonObject[] = [];
  for (const item of indexedItems(attributes, "retrieval.documents")) {
    const { content, metadata, id, score } = objectOf(item) ?? {};
    if (content === undefined) continue;
    documents.push({
      page_content: content,
      metadata: { ...(score !== undefined && { score }), ...objectOf(metadata) },
      type: "Document",
      ...(id !== undefined && { id }),
    });
  }
  return documents.length === 0 ? undefined : { documents };
}
