import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import type { Pregel } from "@langchain/langgraph";
import type { ServerRuntime } from "@langchain/langgraph-sdk";
import type { GraphProblem, GraphSchemas, RunConfig } from "./protocol.ts";

// The runtime serves whatever graph a project exports; its node and channel types are not known here.
// oxlint-disable-next-line typescript/no-explicit-any -- LangGraph's own types use any for "any graph"
export type Graph = Pregel<any, any>;

/** Evaluates a module of the project on the first call, as `import()` does. */
export type LoadModule = () => Promise<Record<string, unknown>>;

export type GraphDefinition = {
  load: LoadModule;
  exportName: string;
  description?: string | undefined;
  /** The schemas that the build derived from the TypeScript types, keyed by "graph" or "graph|subgraph". */
  schemas?: Record<string, Partial<GraphSchemas>> | undefined;
};

type GraphFactory = (config: RunConfig, runtime: ServerRuntime) => unknown;

/**
 * Resolves the exports of a project to compiled graphs. Each is resolved once, unless it is a factory. Each
 * graph's module is evaluated on the first request for that graph, so a module that fails affects no other
 * graph.
 */
export class GraphRegistry {
  readonly definitions: Record<string, GraphDefinition>;
  readonly #keepAlive: (loading: Promise<unknown>) => void;
  readonly #resolved = new Map<string, Promise<Graph | GraphFactory>>();

  /**
   * `keepAlive` is called with the promise of each load in progress, because the request that started a load
   * may end before it, while other requests wait for the same module.
   */
  constructor(
    definitions: Record<string, GraphDefinition>,
    keepAlive: (loading: Promise<unknown>) => void = () => {},
  ) {
    this.definitions = definitions;
    this.#keepAlive = keepAlive;
  }

  /**
   * Returns undefined for an unknown graph id. `runtime` tells a factory what the graph is used for, so that
   * the factory can avoid opening connections when the graph is not run. Throws what the project's factory
   * throws.
   */
  async get(
    graphId: string,
    config: RunConfig,
    runtime: ServerRuntime,
  ): Promise<Graph | undefined> {
    if (!Object.hasOwn(this.definitions, graphId)) return undefined;
    const graph = await this.#shared(graphId);
    if (typeof graph !== "function") return graph;
    return compile(await graph(config, runtime), graphId);
  }

  /** Returns a problem for each graph that does not load, or whose module's export is not a graph. */
  async check(): Promise<GraphProblem[]> {
    const checks = Object.keys(this.definitions).map(async (graph_id) => {
      try {
        await this.#shared(graph_id);
        return [];
      } catch (error) {
        if (!(error instanceof Error)) return [{ graph_id, message: String(error) }];
        return [{ graph_id, message: error.message, stack: error.stack }];
      }
    });
    return (await Promise.all(checks)).flat();
  }

  #shared(graphId: string): Promise<Graph | GraphFactory> {
    const known = this.#resolved.get(graphId);
    if (known !== undefined) return known;
    const resolving = this.#resolve(graphId);
    this.#resolved.set(graphId, resolving);
    // Forgets a failure, so that the next request tries again. A module that threw throws the same error
    // until its isolate ends, but a factory or a promise may succeed.
    const forget = (): void => void this.#resolved.delete(graphId);
    this.#keepAlive(resolving.then(() => {}, forget));
    return resolving;
  }

  async #resolve(graphId: string): Promise<Graph | GraphFactory> {
    const definition = this.definitions[graphId];
    const loaded = await definition?.load();
    const exported = await loaded?.[definition?.exportName ?? ""];
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

/**
 * Checks for a graph and for a wrapped graph first, because the object that `createAgent` returns looks like
 * a graph builder, too.
 */
function compile(value: unknown, graphId: string): Graph {
  if (isGraph(value)) return value;
  if (isWrapper(value)) return value.graph;
  if (isBuilder(value)) return compile(value.compile(), graphId);
  throw new Error(
    `Graph "${graphId}" is neither a compiled graph, a graph builder, nor a function that returns one`,
  );
}

// This checks the structure and not the class: a project may carry its own copy of LangGraph, whose classes
// differ from ours.
function isGraph(value: unknown): value is Graph {
  return typeof value === "object" && value !== null && Reflect.get(value, "lg_is_pregel") === true;
}

/** The agents of `createAgent`, `createDeepAgent` and others hold their graph as `graph`. */
function isWrapper(value: unknown): value is { graph: Graph } {
  return typeof value === "object" && value !== null && isGraph(Reflect.get(value, "graph"));
}

function isBuilder(value: unknown): value is { compile(): unknown } {
  return (
    typeof value === "object" &&
    value !== null &&
    "compile" in value &&
    typeof value.compile === "function"
  );
}
