import type { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import type { CallbackManager } from "@langchain/core/callbacks/manager";
import { LangChainTracer } from "@langchain/core/tracers/tracer_langchain";

/** The class of callback managers of the LangChain in this bundle, reduced to the method that is replaced. */
type Managers = Pick<typeof CallbackManager, "_configureSync">;

/**
 * Makes every manager that `managers` configures call each of its handlers once per event.
 *
 * While a tracer is present, a nested graph finds its parent's handlers twice: in the config it is given and
 * in the async context. LangGraph 1.4.7 concatenates the two lists without removing duplicates, at each graph
 * on the way down. A token of a subgraph then reaches the stream's handler three times, a token of a
 * subgraph's subgraph six times, and the tracer receives the same duplicates. All code that calls handlers
 * takes them from a manager that was configured here. With versions that remove duplicates themselves, this
 * changes nothing.
 */
export function callHandlersOnce(managers: Managers): void {
  const configure = managers._configureSync;
  managers._configureSync = (...options) => {
    const manager = configure.apply(managers, options);
    if (manager !== undefined) {
      manager.handlers = distinct(manager.handlers);
      manager.inheritableHandlers = distinct(manager.inheritableHandlers);
    }
    return manager;
  };
}

type Manager = Pick<CallbackManager, "metadata" | "inheritableMetadata" | "copy">;

/**
 * Makes copies of these managers take the metadata as a whole. LangChain 1.4 copies all of it again for each key, at
 * each step of a graph, which is a quarter of what tracing costs a run.
 */
export function copyMetadataOnce(managers: { prototype: Manager }): void {
  const { copy } = managers.prototype;
  managers.prototype.copy = function (this: Manager, ...options) {
    const { metadata, inheritableMetadata } = this;
    this.metadata = {};
    try {
      const copied = copy.apply(this, options);
      copied.metadata = { ...metadata };
      copied.inheritableMetadata = { ...inheritableMetadata };
      for (const key of Object.keys(inheritableMetadata)) {
        if (!Object.hasOwn(metadata, key)) delete copied.inheritableMetadata[key];
        else copied.inheritableMetadata[key] = metadata[key];
      }
      return copied;
    } finally {
      this.metadata = metadata;
    }
  };
}

function distinct(handlers: BaseCallbackHandler[]): BaseCallbackHandler[] {
  const seen = new Set<unknown>();
  return handlers.filter((handler) => {
    const identity = identityOf(handler);
    if (seen.has(identity)) return false;
    seen.add(identity);
    return true;
  });
}

/**
 * Returns an identity that is equal for copies of one tracer. LangChain copies a tracer for each graph; the
 * copies share one map of runs and count as the same handler.
 */
function identityOf(handler: BaseCallbackHandler): unknown {
  return handler instanceof LangChainTracer ? (Reflect.get(handler, "runMap") ?? handler) : handler;
}
