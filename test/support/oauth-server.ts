import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import Provider from "oidc-provider";

export const CLIENT = { client_id: "threadworks", client_secret: "s3cr et/+:%&=~" };

/** The clients that the server knows, named after their authentication methods. */
const AUTH_METHODS = ["client_secret_post", "client_secret_basic", "none"] as const;

export type OAuthServer = {
  url: string;
  authUrl: string;
  tokenUrl: string;
  /** Lifetime of access tokens that are issued from now on. */
  lifetimeSeconds: number;
  /** Number of refresh requests to the token endpoint. */
  refreshes: number;
  /** Returns the user of a token, or null for an invalid token. */
  userOf: (token: string) => Promise<string | null>;
  /** Returns the user and the audience of a token. */
  describe: (token: string) => Promise<{ user: string; audience: string | undefined } | null>;
  close: () => Promise<void>;
};

/**
 * Starts a third-party OAuth 2 server, whose pages accept any login. A refresh token works once. Its clients may
 * redirect users to any of the addresses.
 */
export async function startOAuthServer(redirectUris: string[]): Promise<OAuthServer> {
  let provider: Provider | undefined;
  let handler: RequestListener = (_request, response) => response.end();
  const http = createServer((request, response) => {
    count(server, request.url ?? "", request);
    handler(request, response);
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const server: OAuthServer = {
    url,
    authUrl: `${url}/auth`,
    tokenUrl: `${url}/token`,
    lifetimeSeconds: 3600,
    refreshes: 0,
    userOf: async (token) => {
      const response = await fetch(`${url}/me`, { headers: { authorization: `Bearer ${token}` } });
      const body = (await response.json()) as { sub?: string };
      return response.ok ? (body.sub ?? null) : null;
    },
    describe: async (token) => {
      const found = await provider?.AccessToken.find(token);
      return found === undefined ? null : { user: found.accountId, audience: found.aud };
    },
    close: async () => {
      http.closeAllConnections();
      http.close();
      await once(http, "close");
    },
  };
  provider = newProvider(server, redirectUris);
  handler = provider.callback();
  return server;
}

/** Returns the `client_id` of the client with this method. */
export function clientIdOf(method: (typeof AUTH_METHODS)[number]): string {
  return method === "client_secret_post" ? CLIENT.client_id : `threadworks-${method}`;
}

function newProvider(server: OAuthServer, redirectUris: string[]): Provider {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return new Provider(server.url, {
    clients: AUTH_METHODS.map((method) => ({
      client_id: clientIdOf(method),
      client_secret: method === "none" ? undefined : CLIENT.client_secret,
      token_endpoint_auth_method: method,
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      redirect_uris: redirectUris,
    })),
    cookies: { keys: ["a key of the tests"] },
    jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), use: "sig", alg: "RS256" }] },
    scopes: ["openid", "offline_access", "notes:read", "notes:write"],
    features: {
      devInteractions: { enabled: true },
      registration: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({ scope: "notes:read", accessTokenFormat: "opaque" }),
      },
    },
    ttl: {
      AccessToken: () => server.lifetimeSeconds,
      AuthorizationCode: 60,
      Grant: 3600,
      IdToken: 3600,
      Interaction: 600,
      RefreshToken: 3600,
      Session: 3600,
    },
    // A client that sends no challenge gets a code, too; one that sends a challenge must prove it.
    pkce: { required: () => false },
    rotateRefreshToken: true,
    issueRefreshToken: () => Promise.resolve(true),
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => Promise.resolve({ sub: id }),
    }),
  });
}

function count(server: OAuthServer, path: string, request: NodeJS.ReadableStream): void {
  if (path !== "/token") return;
  let text = "";
  const onData = (chunk: Buffer): void => {
    text += chunk.toString();
    if (!text.includes("grant_type=refresh_token")) return;
    server.refreshes += 1;
    request.off("data", onData);
  };
  request.on("data", onData);
}
