import { type OAuthProviderRow, selectOAuthProvider } from "../../db/oauth-providers-repo.ts";
import { invalidField } from "../../lib/api-error.ts";
import { endpointRefusal } from "../../lib/endpoint-address.ts";
import type { OAuthDeps, WorkspaceDeps } from "./deps.ts";
import { keyVersions } from "../../secrets/secret-box.ts";
import { discoverMcpClient, type McpClient, McpDiscoveryError } from "./mcp-discovery.ts";
import type { McpProviderCreate } from "./schemas.ts";
import { createProvider, nameTaken } from "./provider-service.ts";
import { withSecrets } from "./sealed-secrets.ts";
import { callbackUrl } from "./start-attempt.ts";

const CLIENT_NAME = "Threadworks";

const LOC = ["body", "mcp_server_url"];

/** Stores the provider of an MCP server, with a client that is registered for the workspace. */
export async function createMcpProvider(
  deps: WorkspaceDeps,
  body: McpProviderCreate,
): Promise<OAuthProviderRow> {
  const { db, settings, workspaceId } = deps;
  const { provider_id: providerId, mcp_server_url: serverUrl } = body;
  const refusal = endpointRefusal(serverUrl, { allowPrivate: settings.privateEndpoints });
  if (refusal !== null) throw invalidField(LOC, `Input ${refusal}`, "value_error");
  // This is checked first, so that no client is registered whose secret cannot be stored.
  await withSecrets(() => keyVersions(settings.encryptionKeys));
  const taken = await selectOAuthProvider(db, workspaceId, providerId);
  if (taken !== undefined) throw nameTaken(providerId);
  const redirectUri = callbackUrl(deps.origin, providerId);
  const client = await discover(deps, serverUrl, redirectUri);
  return createProvider(
    deps,
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

async function discover(
  deps: OAuthDeps,
  serverUrl: string,
  redirectUri: string,
): Promise<McpClient> {
  try {
    return await discoverMcpClient(deps, { serverUrl, redirectUri, clientName: CLIENT_NAME });
  } catch (error) {
    if (!(error instanceof McpDiscoveryError)) throw error;
    throw invalidField(LOC, error.message, "value_error");
  }
}
