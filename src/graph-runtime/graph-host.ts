import "./bundle-paths.ts";
import "./async-context.ts";
import "./batched-store.ts";
import "./failed-fetch.ts";
import { version as langGraphVersion } from "@langchain/langgraph/package.json";
import { waitUntil, WorkerEntrypoint } from "cloudflare:workers";
import type { ServerRuntime } from "@langchain/langgraph-sdk";
import { assistantDefaults } from "./assistant-defaults.ts";
import { type AuthDefinition, authLoader } from "./project-auth.ts";
import { type Graph, type GraphDefinition, GraphRegistry } from "./graph-registry.ts";
import { appLoader, answerFromApp, toProblem, variablesOf } from "./http-app.ts";
import type { HttpInfo } from "./http-info.ts";
import {
  type HttpDefinition,
  httpInfo,
  matchesOrigin,
  uiFile,
  type UiFiles,
} from "./project-http.ts";
import { graphSchemas } from "./graph-schemas.ts";
import type {
  AssistantDefaults,
  AuthenticationRequest,
  AuthenticationResult,
  AuthInfo,
  AuthorizationRequest,
  AuthorizationResult,
  EmbedRequest,
  GraphHostApi,
  GraphInfo,
  GraphProblem,
  GraphRef,
  GraphSchemas,
  HistoryRequest,
  HostProps,
  HostResult,
  ProjectTtl,
  RunOutcome,
  RunPort,
  RunSpec,
  StateRequest,
  ThreadSnapshot,
  UpdateRequest,
  WireCheckpoint,
} from "./protocol.ts";
import type { CheckpointPort, WritableCheckpointPort } from "./checkpoint-port.ts";
import { runGraph } from "./run-graph.ts";
import { withAgentServer } from "./sdk-globals.ts";
import type { StoreSettings } from "./store-settings.ts";
import type { ItemVector } from "./store-operations.ts";
import {
  embedRequest,
  indexProblems,
  projectStore,
  type StoreDefinition,
} from "./project-store.ts";
import { readHistory, readState, writeState } from "./state-requests.ts";
import { type TypeSchemas, typeSchemas } from "./type-schemas.ts";
import { resolveHeaders, type WebhookDefinition } from "./webhook-headers.ts";
import { toWire } from "./wire-json.ts";
import type { JsonText } from "../lib/json-answer.ts";
import type { WebhookRules } from "../lib/webhook-rules.ts";
import { messageOf } from "../lib/error-text.ts";

export type Project = {
  graphs: Record<string, GraphDefinition>;
  auth?: AuthDefinition;
  http?: HttpDefinition;
  ui?: () => UiFiles;
  webhooks?: WebhookDefinition;
  threadTtl?: ProjectTtl;
  store?: StoreDefinition;
};

/**
 * Returns the class that a project's bundle exports, which serves the project's graphs through one RPC
 * interface. An instance holds no state of its own: what a run reads and writes passes through the ports that
 * it is given.
 */
export function defineGraphHost(project: Project): GraphHostClass {
  const registry = new GraphRegistry(project.graphs, waitUntil);
  const loadAuth = authLoader(project.auth, waitUntil);
  const loadApp = appLoader(project.http?.app, waitUntil);
  let readUi: UiFiles | undefined;
  const uiFiles = (): UiFiles => (readUi ??= project.ui?.() ?? {});
  const store = projectStore(project.store, waitUntil);

  return class GraphHost extends WorkerEntrypoint<HostEnv, HostProps> implements GraphHostApi {
    async describe(): Promise<{
      graphs: GraphInfo[];
      langgraph_version: string;
      auth: AuthInfo | null;
      http: HttpInfo | null;
      ui: Record<string, string[]>;
      webhooks?: WebhookRules | undefined;
      thread_ttl: ProjectTtl | null;
      assistants: Record<string, AssistantDefaults>;
      store: StoreSettings;
    }> {
      const graphs = Object.entries(registry.definitions).map(([graph_id, { description }]) => ({
        graph_id,
        description: description ?? null,
      }));
      const auth = await loadAuth();
      const ui = Object.entries(uiFiles()).map(([name, files]) => [name, Object.keys(files)]);
      return {
        graphs,
        langgraph_version: langGraphVersion,
        auth: auth?.info ?? null,
        http: httpInfo(project.http),
        ui: Object.fromEntries(ui),
        store: store.settings,
        webhooks: project.webhooks?.rules,
        thread_ttl: project.threadTtl ?? null,
        assistants: assistantDefaults(process.env["LANGGRAPH_CONFIG"]),
      };
    }

    async check(): Promise<GraphProblem[]> {
      const [ofGraphs, ofApp, ofIndex] = await Promise.all([
        registry.check(),
        loadApp().then(() => [], toProblem),
        indexProblems(store),
      ]);
      return [...ofGraphs, ...ofApp, ...ofIndex];
    }

    /** Calls the project's own app. The platform passes the authenticated user in the props. */
    override async fetch(request: Request): Promise<Response> {
      return withAgentServer(this.#agentServer(), () =>
        answerFromApp(loadApp, request, {
          principal: this.ctx.props.principal ?? null,
          env: variablesOf(this.env),
          waitUntil: (work) => this.ctx.waitUntil(work),
        }),
      );
    }

    async allowsOrigin(origin: string): Promise<boolean> {
      return matchesOrigin(project.http, origin);
    }

    async uiFile({ name, file }: { name: string; file: string }): Promise<string | null> {
      return uiFile(uiFiles(), name, file);
    }

    async authenticate(request: AuthenticationRequest): Promise<AuthenticationResult> {
      const auth = await loadAuth();
      if (auth === null) throw new Error("The project has no authentication of its own");
      return auth.authenticate(request);
    }

    async authorize(request: AuthorizationRequest): Promise<AuthorizationResult> {
      const auth = await loadAuth();
      if (auth === null) throw new Error("The project has no authentication of its own");
      return auth.authorize(request);
    }

    async webhookHeaders(): Promise<Record<string, string>> {
      return resolveHeaders(project.webhooks?.headers ?? {}, process.env);
    }

    async run(spec: RunSpec, port: RunPort): Promise<RunOutcome> {
      return withAgentServer(this.#agentServer(), () =>
        runGraph({ registry, store }, spec, port, (promise) => this.ctx.waitUntil(promise)),
      );
    }

    async embed(request: EmbedRequest): Promise<HostResult<ItemVector[]>> {
      return embedRequest(store, request);
    }

    async getState(request: StateRequest, port: CheckpointPort): Promise<HostResult<JsonText>> {
      return withGraph(request, "threads.read", (graph) => readState(graph, request, port));
    }

    async getHistory(request: HistoryRequest, port: CheckpointPort): Promise<HostResult<JsonText>> {
      return withGraph(request, "threads.read", (graph) => readHistory(graph, request, port));
    }

    async updateState(
      request: UpdateRequest,
      port: WritableCheckpointPort,
    ): Promise<HostResult<{ checkpoint: WireCheckpoint; snapshot: ThreadSnapshot }>> {
      const written = await withGraph(request, "threads.update", (graph) =>
        writeState(graph, request, port),
      );
      return written.ok ? written.value : written;
    }

    async drawGraph(ref: GraphRef & { xray: boolean | number }): Promise<HostResult<unknown>> {
      return withGraph(ref, "assistants.read", async (graph) => {
        const drawn = await graph.getGraphAsync(
          Object.assign(graphConfig(ref), { xray: ref.xray }),
        );
        return toWire(drawn.toJSON());
      });
    }

    async schemas(ref: GraphRef): Promise<HostResult<GraphSchemas>> {
      return withGraph(ref, "assistants.read", async (graph) => {
        const ofTypes = await schemasOfTypes(this.env, ref.graph_id);
        return graphSchemas(graph, ofTypes?.[ref.graph_id]);
      });
    }

    async subgraphs(
      ref: GraphRef & { namespace: string | null; recurse: boolean },
    ): Promise<HostResult<Record<string, GraphSchemas>>> {
      return withGraph(ref, "assistants.read", async (graph) => {
        const ofTypes = await schemasOfTypes(this.env, ref.graph_id);
        const found: Record<string, GraphSchemas> = {};
        const nested = graph.getSubgraphsAsync(ref.namespace ?? undefined, ref.recurse);
        for await (const [namespace, subgraph] of nested) {
          found[namespace] = graphSchemas(subgraph, ofTypes?.[`${ref.graph_id}|${namespace}`]);
        }
        return found;
      });
    }

    /**
     * Returns the agent server's fetcher. A deployed revision has it as a binding; for the graphs that the
     * Worker was built with, the agent server is an entry point of the same Worker.
     */
    #agentServer(): Pick<Fetcher, "fetch"> {
      const { workspaceId, deploymentId } = this.ctx.props;
      return (
        this.env.THREADWORKS_AGENT_SERVER ??
        this.ctx.exports.AgentServer({ props: { workspaceId, deploymentId } })
      );
    }
  };

  async function schemasOfTypes(env: object, graphId: string): Promise<TypeSchemas | undefined> {
    const definition = registry.definitions[graphId];
    return definition === undefined ? undefined : typeSchemas(env, graphId, definition);
  }

  async function withGraph<T>(
    ref: GraphRef,
    accessContext: Exclude<ServerRuntime["accessContext"], "threads.create_run">,
    use: (graph: Graph) => Promise<T>,
  ): Promise<HostResult<T>> {
    try {
      const graph = await registry.get(ref.graph_id, ref.config, {
        accessContext,
        executionRuntime: null,
      });
      if (graph !== undefined) return { ok: true, value: await use(graph) };
      return { ok: false, code: "graph_not_found", message: `Graph "${ref.graph_id}" not found` };
    } catch (error) {
      // This was user code: anything it throws is a failure of the project, not of the platform.
      console.error({ event: "graph_failed", graph_id: ref.graph_id, error: String(error) });
      const message = messageOf(error);
      return { ok: false, code: "graph_failed", message };
    }
  }
}

type HostEnv = {
  /** The agent server's binding, which only deployed revisions have. */
  THREADWORKS_AGENT_SERVER?: Fetcher;
};

type GraphHostClass = new (
  ctx: ExecutionContext<HostProps>,
  env: HostEnv,
) => WorkerEntrypoint<HostEnv, HostProps> & GraphHostApi;

function graphConfig(ref: GraphRef): { configurable: Record<string, unknown> } {
  return { configurable: ref.config.configurable };
}
