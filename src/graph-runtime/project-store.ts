import type { ProjectStore } from "./graph-operations.ts";
import type { EmbedRequest, GraphProblem, HostResult } from "./protocol.ts";
import { StoreIndex, type StoreIndexDefinition } from "./store-index.ts";
import type { ItemVector } from "./store-operations.ts";
import { DEFAULT_STORE, type StoreSettings } from "./store-settings.ts";
import { messageOf } from "../lib/error-text.ts";

/** What a build makes of `store` in a project's `langgraph.json`. */
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

/** How a problem names what is not a graph. */
const EMBED = "store.index.embed";

/** Why the project's index cannot be used, beside the graphs that cannot. */
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

/** The vectors of what a request of the API puts, or searches for. */
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
    // User code ran: whatever it threw is the project's failure, not the platform's.
    console.error({ event: "embedding_failed", error: String(error) });
    const message = messageOf(error);
    return { ok: false, code: "embedding_failed", message };
  }
}
