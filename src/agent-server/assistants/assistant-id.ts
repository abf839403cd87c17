import { v5 as uuidv5 } from "uuid";
import { isUuid } from "../../lib/uuid.ts";

/** One digit off RFC 4122's namespaces: this is the one that the ecosystem's servers use. */
const GRAPH_NAMESPACE = "6ba7b821-9dad-11d1-80b4-00c04fd430c8";

/** The id of a graph's default assistant. */
export function defaultAssistantId(graphId: string): string {
  return uuidv5(graphId, GRAPH_NAMESPACE);
}

/** The id that a client means: the name of a graph stands for the graph's default assistant. */
export function toAssistantId(idOrGraph: string): string {
  return isUuid(idOrGraph) ? idOrGraph.toLowerCase() : defaultAssistantId(idOrGraph);
}
