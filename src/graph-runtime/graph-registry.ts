import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import type { Pregel } from "@langchain/langgraph";
import type { GraphProblem, GraphSchemas, RunConfig } from "./protocol.ts";

// The runtime serves whatever graph a project exports; its node and channel types are not known here.
// oxlint-disable-next-line typescript/no-explicit-any -- LangGraph's own types use any for "any graph"
export type Graph = Pregel<any, any>;

export type GraphDefinition = {
  /** The namespace object of the project's module. */
  module: Record<string, unknown>;
  exportName: string;
  description?: string | undefined;
  /** What the build found in the TypeScript types, by "graph" or "graph|subgraph". */
  schemas?: Record<string, Partial<GraphSchemas>> | undefined;
};

type GraphFactory = (config: RunConfig) => unknown;

/** Resolves the exports of a project to compiled graphs, once each unless they are factories. */
export class GraphRegistry {
  readonly definitions: Record<string, GraphDefinition>;
  readonly #resolved = new Map<string, Promise<Graph | GraphFactory>>();
  readonly #stateless = new WeakMap<Graph, Graph>();

  constructor(definitions: Record<string, GraphDefinition>) {
    this.definitions = definitions;
  }

  /** Undefined for an unknown graph id. Throws what the project's factory throws. */
  async get(graphId: string, config: RunConfig): Promise<Graph | undefined> {
    if (!Object.hasOwn(this.definitions, graphId)) return undefined;
    let resolved = this.#resolved.get(graphId);
    if (resolved === undefined) {
      resolved = this.#resolve(graphId);
      this.#resolved.set(graphId, resolved);
      // A rejected promise must not be served again: the next request tries anew.
      resolved.catch(() => this.#resolved.delete(graphId));
    }
    const graph = await resolved;
    if (typeof graph !== "function") return graph;
    return compile(await graph(config), graphId);
  }

  /** The graphs that are none, by what their module exports. */
  async check(): Promise<GraphProblem[]> {
    const checks = Object.keys(this.definitions).map(async (graph_id) => {
      try {
        await this.#resolve(graph_id);
        return [];
      } catch (error) {
        return [{ graph_id, message: error instanceof Error ? error.message : String(error) }];
      }
    });
    return (await Promise.all(checks)).flat();
  }

  /** The same graph without any checkpointer, for runs that leave nothing behind. */
  stateless(graph: Graph): Graph {
    let copy = this.#stateless.get(graph);
    if (copy === undefined) {
      copy = graph.withConfig({});
      delete copy.checkpointer;
      this.#stateless.set(graph, copy);
    }
    return copy;
  }

  async #resolve(graphId: string): Promise<Graph | GraphFactory> {
    const definition = this.definitions[graphId];
    const exported = await definition?.module[definition.exportName];
    if (exported === undefined) {
      throw new Error(`Graph "${graphId}": its module has no export "${definition?.exportName}"`);
    }
    return isFactory(exported) ? exported : compile(exported, graphId);
  }
}

/** State reads need the checkpointer on the graph itself, so that subgraph namespaces resolve. */
export function bindCheckpointer(graph: Graph, checkpointer: BaseCheckpointSaver): Graph {
  const copy = graph.withConfig({});
  copy.checkpointer = checkpointer;
  return copy;
}

function isFactory(value: unknown): value is GraphFactory {
  return typeof value === "function";
}

function compile(value: unknown, graphId: string): Graph {
  if (isGraph(value)) return value;
  if (isBuilder(value)) return compile(value.compile(), graphId);
  throw new Error(
    `Graph "${graphId}" is neither a compiled graph, a graph builder, nor a function that returns one`,
  );
}

// Structural: a project may carry its own copy of LangGraph, whose classes differ from ours.
function isGraph(value: unknown): value is Graph {
  return typeof value === "object" && value !== null && Reflect.get(value, "lg_is_pregel") === true;
}

function isBuilder(value: unknown): value is { compile(): unknown } {
  return (
    typeof value === "object" &&
    value !== null &&
    "compile" in value &&
    typeof value.compile === "function"
  );
}
