import { v5 as uuidv5 } from "uuid";
import { isolateCache } from "../../lib/isolate-cache.ts";
import { isUuid } from "../../lib/uuid.ts";

/** Differs in one digit from the namespaces of RFC 4122, but it is the one that the ecosystem's servers use. */
const GRAPH_NAMESPACE = "6ba7b821-9dad-11d1-80b4-00c04fd430c8";

const MAX_KNOWN_CHARS = 256;

/** A request computes the id of its graph several times. */
const known = isolateCache<string, string>({ maxEntries: 1000 });

/** The id of a graph's default assistant. */
export function defaultAssistantId(graphId: string): string {
  if (graphId.length > MAX_KNOWN_CHARS) return uuidv5(graphId, GRAPH_NAMESPACE);
  const id = known.get(graphId) ?? uuidv5(graphId, GRAPH_NAMESPACE);
  known.set(graphId, id);
  return id;
}

/** Returns the id of the assistant that a client names: the name of a graph stands for its default assistant. */
export function toAssistantId(idOrGraph: string): string {
  return isUuid(idOrGraph) ? idOrGraph.toLowerCase() : defaultAssistantId(idOrGraph);
}
