import * as oauth from "oauth4webapi";
import { z } from "zod";
import { endpointRefusal } from "../../lib/endpoint-address.ts";
import { jsonOrUndefined, objectOrEmpty } from "../../lib/json.ts";
import type { OAuthDeps } from "./deps.ts";
import { readText } from "./provider-answers.ts";

/** The metadata of an MCP server's authorization server, and the client that was registered with it. */
export type McpClient = {
  authUrl: string;
  tokenUrl: string;
  revocationUrl: string | null;
  /** The resource for which tokens are requested (RFC 8707); null when the server names none. */
  resource: string | null;
  clientId: string;
  clientSecret: string | null;
  method: ClientAuthMethod;
};

type ClientAuthMethod = (typeof AUTH_METHODS)[number];

/** Why a server cannot be connected, as a sentence for the person who gave its URL. */
export class McpDiscoveryError extends Error {
  override readonly name = "McpDiscoveryError";
}

const AUTH_METHODS = ["client_secret_basic", "client_secret_post", "none"] as const;

const serverSchema = z.object({
  issuer: z.string(),
  authorization_endpoint: z.string(),
  token_endpoint: z.string(),
  registration_endpoint: z.string().optional(),
  revocation_endpoint: z.string().optional(),
  code_challenge_methods_supported: z.array(z.string()).default([]),
  // RFC 8414's default for a server that lists none.
  token_endpoint_auth_methods_supported: z.array(z.string()).default(["client_secret_basic"]),
});

type Server = z.infer<typeof serverSchema>;

const TIMEOUT_MS = 15_000;
const MAX_DOCUMENT_BYTES = 256 * 1024;

const RESOURCE_METADATA = /resource_metadata="([^"]+)"/i;
const WELL_KNOWN_RESOURCE = "/.well-known/oauth-protected-resource";

/** The parts of a request that are used here. */
type Init = { method?: string; headers?: Record<string, string>; body?: string | undefined };

type Fetch = (url: string, init?: Init) => Promise<Response>;

/**
 * Finds the authorization server of an MCP server (RFC 9728, RFC 8414) and registers a client with it (RFC 7591),
 * as the MCP specification requires. Throws an `McpDiscoveryError`.
 */
export async function discoverMcpClient(
  deps: OAuthDeps,
  of: { serverUrl: string; redirectUri: string; clientName: string },
): Promise<McpClient> {
  const ask = guardedFetch(deps);
  const found = await findResource(ask, new URL(of.serverUrl));
  const server = await findServer(deps, ask, new URL(found.issuer));
  const method = chooseMethod(server);
  const registered = await register(deps, ask, server, {
    client_name: of.clientName,
    redirect_uris: [of.redirectUri],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: method,
  });
  const { client_secret: secret } = registered;
  return {
    authUrl: server.authorization_endpoint,
    tokenUrl: server.token_endpoint,
    revocationUrl: server.revocation_endpoint ?? null,
    resource: found.resource,
    clientId: registered.client_id,
    clientSecret: typeof secret === "string" ? secret : null,
    // The server may have chosen another method than requested.
    method: AUTH_METHODS.find((each) => each === registered.token_endpoint_auth_method) ?? method,
  };
}

/** Checks each URL, because it comes from another party's document, and limits the size of responses. */
function guardedFetch(deps: OAuthDeps): Fetch {
  const policy = { allowPrivate: deps.settings.privateEndpoints, allowQuery: true };
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  return async (url, { method = "GET", headers = {}, body } = {}) => {
    const refusal = endpointRefusal(url, policy);
    if (refusal !== null) throw new McpDiscoveryError(`The address ${url} ${refusal}`);
    let response: Response;
    let text: string | null;
    try {
      const sent = { method, headers, ...(body === undefined ? {} : { body }) };
      response = await fetch(url, { ...sent, redirect: "manual", signal });
      // A server that requires no authorization may answer with an endless stream of events.
      const isRead = response.headers.get("content-type")?.includes("json") === true;
      text = isRead ? await readText(response, MAX_DOCUMENT_BYTES) : null;
      if (!isRead) await response.body?.cancel();
    } catch {
      throw new McpDiscoveryError(`${new URL(url).origin} did not answer`);
    }
    const { status, headers: answered } = response;
    const isEmpty = status === 204 || status === 205 || status === 304;
    return new Response(isEmpty ? null : text, { status, headers: answered });
  };
}

/**
 * Returns the authorization server that an MCP server names, or its own origin, as in older versions of the
 * specification.
 */
async function findResource(
  ask: Fetch,
  serverUrl: URL,
): Promise<{ issuer: string; resource: string | null }> {
  const challenged = await ask(serverUrl.href);
  const named = RESOURCE_METADATA.exec(challenged.headers.get("www-authenticate") ?? "")?.[1];
  const path = serverUrl.pathname === "/" ? "" : serverUrl.pathname;
  const candidates = [
    ...(named === undefined ? [] : [named]),
    new URL(WELL_KNOWN_RESOURCE + path, serverUrl).href,
    new URL(WELL_KNOWN_RESOURCE, serverUrl).href,
  ];
  for (const url of new Set(candidates)) {
    const metadata = await jsonOf(await ask(url));
    const [issuer] = Array.isArray(metadata["authorization_servers"])
      ? metadata["authorization_servers"]
      : [];
    if (typeof issuer !== "string" || URL.parse(issuer) === null) continue;
    return { issuer, resource: resourceIn(metadata, serverUrl) };
  }
  return { issuer: serverUrl.origin, resource: null };
}

/**
 * Returns the metadata's resource. It must contain this server, because tokens for one server must not be sent to
 * another.
 */
function resourceIn(metadata: Record<string, unknown>, serverUrl: URL): string {
  const { resource } = metadata;
  const url = typeof resource === "string" ? URL.parse(resource) : null;
  const prefix = url?.pathname.replace(/\/$/, "") ?? "";
  const isAbove = prefix === serverUrl.pathname || serverUrl.pathname.startsWith(`${prefix}/`);
  if (typeof resource !== "string" || url?.origin !== serverUrl.origin || !isAbove) {
    throw new McpDiscoveryError("The server's metadata is about another resource");
  }
  return resource;
}

async function findServer(deps: OAuthDeps, ask: Fetch, issuer: URL): Promise<Server> {
  for (const algorithm of ["oauth2", "oidc"] as const) {
    const response = await conforming(
      oauth.discoveryRequest(issuer, { algorithm, ...optionsOf(deps, ask) }),
    );
    if (response.status !== 200) continue;
    const described = await conforming(oauth.processDiscoveryResponse(issuer, response));
    const server = serverSchema.safeParse(described).data;
    if (server === undefined) throw notAsStandard();
    // The MCP specification requires S256 to be listed, because clients cannot learn it otherwise.
    if (server.code_challenge_methods_supported.includes("S256")) return server;
    throw new McpDiscoveryError(`${issuer.origin} does not support PKCE with S256`);
  }
  throw new McpDiscoveryError(`${issuer.origin} does not describe itself as authorization server`);
}

async function register(
  deps: OAuthDeps,
  ask: Fetch,
  server: Server,
  metadata: Parameters<typeof oauth.dynamicClientRegistrationRequest>[1],
): Promise<Awaited<ReturnType<typeof oauth.processDynamicClientRegistrationResponse>>> {
  const { issuer, registration_endpoint: endpoint } = server;
  if (endpoint === undefined) {
    throw new McpDiscoveryError(
      "The authorization server does not let clients register themselves",
    );
  }
  const response = await conforming(
    oauth.dynamicClientRegistrationRequest(
      { issuer, registration_endpoint: endpoint },
      metadata,
      optionsOf(deps, ask),
    ),
  );
  // Some servers answer 200 instead of 201.
  const { status, headers, body } = response;
  const answer = status === 200 ? new Response(body, { status: 201, headers }) : response;
  return conforming(oauth.processDynamicClientRegistrationResponse(answer));
}

function optionsOf(deps: OAuthDeps, ask: Fetch) {
  return {
    [oauth.customFetch]: ask,
    [oauth.allowInsecureRequests]: deps.settings.privateEndpoints,
  };
}

function chooseMethod({
  token_endpoint_auth_methods_supported: supported,
}: Server): ClientAuthMethod {
  const method = AUTH_METHODS.find((each) => supported.includes(each));
  if (method !== undefined) return method;
  throw new McpDiscoveryError(`The authorization server takes none of ${AUTH_METHODS.join(", ")}`);
}

async function conforming<T>(processed: Promise<T>): Promise<T> {
  try {
    return await processed;
  } catch (error) {
    if (error instanceof oauth.ResponseBodyError) {
      throw new McpDiscoveryError("The authorization server refused to register a client");
    }
    if (!(error instanceof oauth.OperationProcessingError)) throw error;
    throw notAsStandard();
  }
}

function notAsStandard(): McpDiscoveryError {
  return new McpDiscoveryError(
    "The authorization server's answer does not conform to the standard",
  );
}

async function jsonOf(response: Response): Promise<Record<string, unknown>> {
  const value = response.status === 200 ? jsonOrUndefined(await response.text()) : undefined;
  return objectOrEmpty(value);
}
