import { v7 as uuid } from "uuid";
import {
  deleteOAuthProvider,
  insertOAuthProvider,
  type OAuthProviderRow,
  selectOAuthProvider,
  updateOAuthProvider,
} from "../../db/oauth-providers-repo.ts";
import { ApiError, invalidField } from "../../lib/api-error.ts";
import { endpointRefusal } from "../../lib/endpoint-address.ts";
import { keyVersions } from "../../secrets/secret-box.ts";
import { AUTHORIZATION_PARAMETERS } from "./authorization-url.ts";
import type { WorkspaceDeps } from "./deps.ts";
import type { ProviderCreate, ProviderUpdate } from "./schemas.ts";
import { sealOAuth, withSecrets } from "./sealed-secrets.ts";

type Providing = Pick<WorkspaceDeps, "db" | "settings" | "workspaceId">;

/** The columns of a provider that was discovered from an MCP server's URL. */
type McpColumns = Pick<OAuthProviderRow, "mcp_server_url" | "resource" | "revocation_url">;

const NO_MCP: McpColumns = { mcp_server_url: null, resource: null, revocation_url: null };

export async function createProvider(
  deps: Providing,
  body: ProviderCreate,
  mcp: McpColumns = NO_MCP,
): Promise<OAuthProviderRow> {
  checkUrls(deps, body);
  const { client_secret: secret } = body;
  const { token_endpoint_auth_method: method } = body;
  checkClient({ hasSecret: secret != null, method, usesPkce: body.uses_pkce });
  const id = uuid();
  const now = Date.now();
  const row: OAuthProviderRow = {
    id,
    workspace_id: deps.workspaceId,
    provider_id: body.provider_id,
    name: body.name,
    client_id: body.client_id,
    ...(secret == null
      ? { client_secret: null, key_version: null }
      : await sealedSecret(deps, id, secret)),
    auth_url: body.auth_url,
    token_url: body.token_url,
    uses_pkce: body.uses_pkce,
    provider_type: body.provider_type ?? null,
    token_endpoint_auth_method: method,
    ...mcp,
    created_at: now,
    updated_at: now,
  };
  if (await insertOAuthProvider(deps.db, row)) return row;
  throw nameTaken(body.provider_id);
}

export async function changeProvider(
  deps: Providing,
  providerId: string,
  body: ProviderUpdate,
): Promise<OAuthProviderRow> {
  const row = await requireProvider(deps, providerId);
  checkUrls(deps, body);
  const { client_secret: secret } = body;
  checkClient({
    hasSecret: secret != null || row.client_secret !== null,
    method: row.token_endpoint_auth_method,
    usesPkce: body.uses_pkce ?? row.uses_pkce,
  });
  const changed = await updateOAuthProvider(deps.db, row.workspace_id, providerId, {
    name: body.name ?? undefined,
    client_id: body.client_id ?? undefined,
    ...(secret == null ? {} : await sealedSecret(deps, row.id, secret)),
    auth_url: body.auth_url ?? undefined,
    token_url: body.token_url ?? undefined,
    uses_pkce: body.uses_pkce ?? undefined,
    updated_at: Date.now(),
  });
  if (changed === undefined) throw providerNotFound();
  return changed;
}

export async function removeProvider(deps: Providing, providerId: string): Promise<void> {
  await deleteOAuthProvider(deps.db, await requireProvider(deps, providerId));
}

/** Throws a 404 when the workspace has no provider with this name. */
export async function requireProvider(
  deps: Providing,
  providerId: string,
): Promise<OAuthProviderRow> {
  const row = await selectOAuthProvider(deps.db, deps.workspaceId, providerId);
  if (row === undefined) throw providerNotFound();
  return row;
}

function checkUrls(deps: Providing, body: Pick<ProviderUpdate, "auth_url" | "token_url">): void {
  const policy = { allowPrivate: deps.settings.privateEndpoints, allowQuery: true };
  for (const name of ["auth_url", "token_url"] as const) {
    const url = body[name];
    const refusal = url == null ? null : endpointRefusal(url, policy);
    if (refusal !== null) throw invalidField(["body", name], `Input ${refusal}`, "value_error");
  }
  const query = body.auth_url == null ? undefined : URL.parse(body.auth_url)?.searchParams;
  const taken = AUTHORIZATION_PARAMETERS.find((name) => query?.has(name));
  if (taken === undefined) return;
  const message = `Input should not have the parameter '${taken}', which each request sets itself`;
  throw invalidField(["body", "auth_url"], message, "value_error");
}

/** Throws a 422 when a secret is given but not used, or when a client would have neither a secret nor PKCE. */
function checkClient(client: {
  hasSecret: boolean;
  method: ProviderCreate["token_endpoint_auth_method"];
  usesPkce: boolean;
}): void {
  const { hasSecret, method, usesPkce } = client;
  if (method === "none" && hasSecret) {
    const message = "With token_endpoint_auth_method 'none' a client has no secret: leave it out";
    throw invalidField(["body", "client_secret"], message, "value_error");
  }
  if (method !== "none" && !hasSecret) {
    const message = `Field required with token_endpoint_auth_method '${method}': use 'none' for a client without a secret`;
    throw invalidField(["body", "client_secret"], message, "missing");
  }
  if (method === "none" && !usesPkce) {
    const message = "Input should be true: a client without a secret needs PKCE";
    throw invalidField(["body", "uses_pkce"], message, "value_error");
  }
}

function sealedSecret(
  deps: Providing,
  id: string,
  secret: string,
): Promise<{ client_secret: string; key_version: number }> {
  const { encryptionKeys } = deps.settings;
  const of = { kind: "client_secret", workspaceId: deps.workspaceId, id } as const;
  return withSecrets(async () => ({
    client_secret: await sealOAuth(encryptionKeys, secret, of),
    key_version: keyVersions(encryptionKeys)[0],
  }));
}

export function nameTaken(providerId: string): ApiError {
  return new ApiError("conflict", `The workspace has an OAuth provider '${providerId}' already`);
}

function providerNotFound(): ApiError {
  return new ApiError("not_found", "OAuth provider not found");
}
