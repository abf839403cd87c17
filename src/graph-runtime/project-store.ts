import type { ProjectStore } from "./graph-operations.ts";
import type { EmbedRequest, GraphProblem, HostResult } from "./protocol.ts";
import { StoreIndex, type StoreIndexDefinition } from "./store-index.ts";
import type { ItemVector } from "./store-operations.ts";
import { DEFAULT_STORE, type StoreSettings } from "./store-settings.ts";
import { messageOf } from "../lib/error-text.ts";

/** The build's form of `store` in a project's `langgraph.json`. */
export type StoreDefinition = { ttl: StoreSettings["ttl"]; index?: StoreIndexDefinition };

export function projectStore(
  definition: StoreDefinition | undefined,
  keepAlive: (loading: Promise<unknown>) => void,
): ProjectStore {
  const { ttl } = definition ?? DEFAULT_STORE;
  const index = definition?.index;
  if (index === undefined) return { settings: { ttl, index: null }, index: null };
  const { dims, fields } = index;
  return { settings: { ttl, index: { dims, fields } }, index: new StoreIndex(index, keepAlive) };
}

/** Stands in place of a graph id in problems of the index. */
const EMBED = "store.index.embed";

/** Returns the reason why the project's index cannot be used, in the form of graphs' problems. */
export async function indexProblems({ index }: ProjectStore): Promise<GraphProblem[]> {
  try {
    await index?.load();
    return [];
  } catch (error) {
    const text = messageOf(error);
    const message = text.includes(`"${EMBED}"`) ? text : `"${EMBED}": ${text}`;
    const stack = error instanceof Error ? error.stack : undefined;
    return [{ graph_id: EMBED, message, stack }];
  }
}

/** Returns the vectors for an item or for a query that the API received. */
export async function embedRequest(
  { index }: ProjectStore,
  request: EmbedRequest,
): Promise<HostResult<ItemVector[]>> {
  if (index === null) throw new Error("The project's store has no index");
  try {
    if ("query" in request) {
      const vector = await index.embedQuery(request.query);
      return { ok: true, value: [{ path: "", vector }] };
    }
    const [vectors = []] = await index.embedItems([request]);
    return { ok: true, value: vectors };
  } catch (error) {
    // This was user code: anything it throws is a failure of the project, not of the platform.
    console.error({ event: "embedding_failed", error: String(error) });
    const message = messageOf(error);
    return { ok: false, code: "embedding_failed", message };
  }
}
