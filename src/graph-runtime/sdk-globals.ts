import { AsyncLocalStorage } from "node:async_hooks";

/**
 * The global symbols of the ecosystem's SDK by which it finds, in the process that serves a graph, a logger
 * and a way to the agent server that needs no address. User modules may look for them while they are
 * evaluated.
 */
const LOGGER = Symbol.for("langgraph.api.sdk-logger");
const AGENT_SERVER_FETCH = Symbol.for("langgraph_api:fetch");

/** The agent server as the code of one call sees it. */
type AgentServer = Pick<Fetcher, "fetch">;

const agentServers = new AsyncLocalStorage<AgentServer>();

/** Runs code whose SDK clients without an address send their requests to this agent server. */
export function withAgentServer<T>(agentServer: AgentServer, run: () => Promise<T>): Promise<T> {
  return agentServers.run(agentServer, run);
}

function fetchAgentServer(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const agentServer = agentServers.getStore();
  if (agentServer === undefined) {
    throw new Error(
      "A client without an address reaches this deployment from runs and the routes of its app: give it an apiUrl here",
    );
  }
  return agentServer.fetch(new Request(input, init));
}

type LogMethod = (message: unknown, ...meta: unknown[]) => typeof logger;

/** The levels of the SDK's logger, each with the closest level of the console. */
const LEVELS = {
  error: "error",
  warn: "warn",
  help: "info",
  data: "info",
  info: "info",
  http: "info",
  prompt: "info",
  input: "info",
  verbose: "debug",
  debug: "debug",
  silly: "debug",
} as const;

const logger = Object.fromEntries(
  Object.entries(LEVELS).map(([name, level]): [string, LogMethod] => [
    name,
    (message, ...meta) => {
      console[level](message, ...meta);
      return logger;
    },
  ]),
) as Record<keyof typeof LEVELS, LogMethod>;

Object.assign(globalThis, { [LOGGER]: logger, [AGENT_SERVER_FETCH]: fetchAgentServer });
