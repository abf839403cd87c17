/** Types for the part of the package that the tests use; it has none of its own. */
declare module "oidc-provider" {
  import type { IncomingMessage, ServerResponse } from "node:http";

  type Account = { accountId: string; claims: () => Promise<Record<string, unknown>> };

  export default class Provider {
    constructor(
      issuer: string,
      configuration: {
        clients: Record<string, unknown>[];
        cookies: { keys: string[] };
        jwks: { keys: Record<string, unknown>[] };
        scopes: string[];
        features: Record<string, { enabled: boolean } & Record<string, unknown>>;
        ttl: Record<string, number | (() => number)>;
        pkce: { required: () => boolean };
        rotateRefreshToken: boolean;
        issueRefreshToken: () => Promise<boolean>;
        findAccount: (context: unknown, id: string) => Account;
      },
    );
    AccessToken: {
      find: (token: string) => Promise<{ accountId: string; aud?: string } | undefined>;
    };
    callback(): (request: IncomingMessage, response: ServerResponse) => void;
    on(event: string, listener: (...values: unknown[]) => void): this;
  }
}
