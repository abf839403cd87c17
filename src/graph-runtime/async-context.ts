/**
 * This module must be evaluated before any user module, for two reasons: LangChain's Worker entry points do
 * not install an AsyncLocalStorage, without which `interrupt()`, `getWriter()` and nested runnables cannot
 * find their run; and user modules read `process.env` while they load.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { env } from "cloudflare:workers";
import { CallbackManager } from "@langchain/core/callbacks/manager";
import { AsyncLocalStorageProviderSingleton } from "@langchain/core/singletons";
import { callHandlersOnce, copyMetadataOnce } from "./callback-handlers.ts";

AsyncLocalStorageProviderSingleton.initializeGlobalInstance(new AsyncLocalStorage());

callHandlersOnce(CallbackManager);
copyMetadataOnce(CallbackManager);

const projectEnv: unknown = Reflect.get(env, "PROJECT_ENV");
if (typeof projectEnv === "string" && projectEnv !== "") {
  const variables: unknown = JSON.parse(projectEnv);
  if (typeof variables !== "object" || variables === null || Array.isArray(variables)) {
    throw new Error("PROJECT_ENV must be a JSON object of strings");
  }
  for (const [name, value] of Object.entries(variables)) process.env[name] = String(value);
}

// Otherwise LangChain runs the handlers of all runs from one queue in the background. A run's message chunks and its
// trace then arrive after its end, when no reader is left, so a project cannot choose otherwise.
process.env["LANGCHAIN_CALLBACKS_BACKGROUND"] = "false";
