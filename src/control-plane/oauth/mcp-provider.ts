import { type OAuthProviderRow, selectOAuthProvider } from "../../db/oauth-providers-repo.ts";
import type { AppContext } from "../../http/app-types.ts";
import { invalidField } from "../../lib/api-error.ts";
import { endpointRefusal } from "../../lib/endpoint-address.ts";
import { discoverMcpClient, type McpClient, McpDiscoveryError } from "./mcp-discovery.ts";
import type { McpProviderCreate } from "./provider-schemas.ts";
import { createProvider, nameTaken } from "./provider-service.ts";
import { sealingKey, withSecrets } from "./sealed-secrets.ts";
import { callbackUrl } from "./start-attempt.ts";
import { toItsEnd } from "./to-its-end.ts";

const CLIENT_NAME = "Threadworks";

const LOC = ["body", "mcp_server_url"];

/** The provider of an MCP server, with a client of the workspace's own. */
export function createMcpProvider(
  c: AppContext,
  body: McpProviderCreate,
): Promise<OAuthProviderRow> {
  return toItsEnd(c, create(c, body));
}

async function create(c: AppContext, body: McpProviderCreate): Promise<OAuthProviderRow> {
  const { provider_id: providerId, mcp_server_url: serverUrl } = body;
  const refusal = endpointRefusal(serverUrl, { allowPrivate: c.var.settings.privateEndpoints });
  if (refusal !== null) throw invalidField(LOC, `Input ${refusal}`, "value_error");
  // Before a client is registered that could not be kept.
  await withSecrets(() => Promise.resolve().then(() => sealingKey(c.env)));
  const taken = await selectOAuthProvider(c.env.DB, c.var.scope.workspaceId, providerId);
  if (taken !== undefined) throw nameTaken(providerId);
  const redirectUri = callbackUrl(new URL(c.req.url).origin, providerId);
  const client = await discover(c.env, serverUrl, redirectUri);
  return createProvider(
    c,
    {
      provider_id: providerId,
      name: body.name,
      client_id: client.clientId,
      client_secret: client.method === "none" ? null : client.clientSecret,
      auth_url: client.authUrl,
      token_url: client.tokenUrl,
      uses_pkce: true,
      code_challenge_method: "S256",
      provider_type: null,
      token_endpoint_auth_method: client.method,
    },
    {
      mcp_server_url: serverUrl,
      resource: client.resource,
      revocation_url: client.revocationUrl,
    },
  );
}

async function discover(env: Env, serverUrl: string, redirectUri: string): Promise<McpClient> {
  try {
    return await discoverMcpClient(env, { serverUrl, redirectUri, clientName: CLIENT_NAME });
  } catch (error) {
    if (!(error instanceof McpDiscoveryError)) throw error;
    throw invalidField(LOC, error.message, "value_error");
  }
}
