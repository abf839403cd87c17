import type { EmbedRequest } from "../../graph-runtime/protocol.ts";
import { MAX_ITEM_VECTORS, type ItemVector } from "../../graph-runtime/store-operations.ts";
import { ApiError } from "../../lib/api-error.ts";
import type { AgentCall } from "../agent-call.ts";
import { requestedGraphs } from "../graph-host.ts";
import { isVectors } from "./check-operations.ts";

/** What an item is compared by, as the project's own code finds it. `index` is what the put says. */
export async function itemVectors(
  call: AgentCall,
  value: Record<string, unknown>,
  index: string[] | false | null | undefined,
): Promise<ItemVector[]> {
  return index === false ? [] : embedded(call, { value, index: index ?? null });
}

/** The vector of what is searched for. */
export async function queryVector(call: AgentCall, query: string): Promise<Float32Array> {
  const [found] = await embedded(call, { query });
  if (found === undefined) throw noVectors();
  return found.vector;
}

/** A deployment's code answers what it likes. */
async function embedded(call: AgentCall, request: EmbedRequest): Promise<ItemVector[]> {
  const result = await requestedGraphs(call).embed(request);
  if (result.ok) {
    if (!isVectors(result.value)) throw noVectors();
    return result.value;
  }
  if (result.code === "graph_late") throw new ApiError("timed_out", result.message);
  throw new ApiError("bad_request", `The project's index failed: ${result.message}`);
}

function noVectors(): ApiError {
  return new ApiError(
    "unavailable",
    `The project's index gave what are not at most ${MAX_ITEM_VECTORS} vectors`,
  );
}
