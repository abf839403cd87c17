import { COMPATIBILITY_DATE } from "./compatibility-date.ts";
import type { BuiltCode, BuiltModule } from "./built-code.ts";

export type InvocationLimits = { cpuMs: number; subRequests: number };

/**
 * What the Worker Loader makes an isolate of: the code, an environment of its own and nothing of the
 * platform's; limits for each invocation; and `outbound` as its only way to the network.
 */
export function workerCode(options: {
  built: BuiltCode;
  env: Record<string, string>;
  /** The deployment's own agent server, for clients that its code makes without an address. */
  agentServer: Fetcher;
  limits: InvocationLimits;
  outbound: Fetcher;
  tail: Fetcher;
}): WorkerLoaderWorkerCode {
  const { built, env, agentServer, limits, outbound, tail } = options;
  const modules = Object.entries(built.modules).map(([path, module]) => [path, toLoader(module)]);
  return {
    compatibilityDate: COMPATIBILITY_DATE,
    compatibilityFlags: ["nodejs_compat"],
    mainModule: built.main,
    modules: Object.fromEntries(modules),
    env: { ...env, THREADWORKS_AGENT_SERVER: agentServer },
    limits,
    globalOutbound: outbound,
    tails: [tail],
  };
}

function toLoader({ type, bytes }: BuiltModule): WorkerLoaderModule {
  if (type === "wasm") return { wasm: bytes };
  const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  if (type === "json") return { json: JSON.parse(text) };
  return type === "js" ? { js: text } : { text };
}
