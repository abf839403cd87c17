import type { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import type { CallbackManager } from "@langchain/core/callbacks/manager";
import { LangChainTracer } from "@langchain/core/tracers/tracer_langchain";

/** The class of callback managers of the LangChain in this bundle, as far as it is changed. */
type Managers = Pick<typeof CallbackManager, "_configureSync">;

/**
 * Makes every manager that `managers` configures tell each of its handlers once.
 *
 * While a tracer is there, a nested graph finds its parent's handlers twice, in the config it is given
 * and in the async context. LangGraph 1.4.7 joins the two lists as they are, at each graph on the way
 * down: a token of a subgraph then reaches the handler of the stream three times, one of a subgraph's
 * subgraph six times, and so does what the tracer is told. Whatever calls handlers takes them from a
 * manager that was configured here. Versions that join lists without repetition leave nothing to mend.
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

function distinct(handlers: BaseCallbackHandler[]): BaseCallbackHandler[] {
  const seen = new Set<unknown>();
  return handlers.filter((handler) => {
    const identity = identityOf(handler);
    if (seen.has(identity)) return false;
    seen.add(identity);
    return true;
  });
}

/** LangChain copies a tracer for each graph; the copies share the runs that they keep, and are one. */
function identityOf(handler: BaseCallbackHandler): unknown {
  return handler instanceof LangChainTracer ? (Reflect.get(handler, "runMap") ?? handler) : handler;
}
