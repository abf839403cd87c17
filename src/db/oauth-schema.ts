import {
  foreignKey,
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";

/** The D1 tables of OAuth: services that users may connect, attempts to connect them, and the users' tokens. */

export const OAUTH_PROVIDER_TYPES = ["microsoft", "salesforce", "slack"] as const;

export type OAuthProviderType = (typeof OAUTH_PROVIDER_TYPES)[number];

export const OAUTH_CLIENT_AUTH = ["none", "client_secret_basic", "client_secret_post"] as const;

export const oauthProviders = sqliteTable(
  "oauth_providers",
  {
    id: text().notNull(),
    workspace_id: text().notNull(),
    /** The name that the workspace gave the provider, which is part of the callback's URL. */
    provider_id: text().notNull(),
    name: text().notNull(),
    client_id: text().notNull(),
    /** The secret, encrypted by the key of `key_version`. Both are null for a public client. */
    client_secret: text(),
    key_version: integer(),
    auth_url: text().notNull(),
    token_url: text().notNull(),
    uses_pkce: integer({ mode: "boolean" }).notNull(),
    provider_type: text({ enum: OAUTH_PROVIDER_TYPES }),
    token_endpoint_auth_method: text({ enum: OAUTH_CLIENT_AUTH }).notNull(),
    /** This column, `resource` and `revocation_url` belong to providers discovered from an MCP server's URL. */
    mcp_server_url: text(),
    /** The resource for which tokens are requested. */
    resource: text(),
    revocation_url: text(),
    created_at: integer().notNull(),
    updated_at: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.workspace_id, table.id] }),
    uniqueIndex("oauth_providers_by_name").on(table.workspace_id, table.provider_id),
  ],
);

export const OAUTH_ATTEMPT_STATUSES = ["pending", "exchanging", "completed", "failed"] as const;

/** A user's authorization at a provider. Its id is the `state`, which can be used once. */
export const oauthAttempts = sqliteTable(
  "oauth_attempts",
  {
    auth_id: text().primaryKey(),
    workspace_id: text().notNull(),
    /** The provider's `id`. */
    provider: text().notNull(),
    user_id: text().notNull(),
    agent_id: text(),
    /** A JSON list of the requested scopes. */
    scopes: text().notNull(),
    is_default: integer({ mode: "boolean" }).notNull(),
    redirect_uri: text().notNull(),
    /** The encrypted verifier; null without PKCE, or after use. */
    code_verifier: text(),
    status: text({ enum: OAUTH_ATTEMPT_STATUSES }).notNull(),
    /** The id of the token to replace or, once completed, of the stored token. */
    token_id: text(),
    /** Why the attempt failed: a code of OAuth, or one of this software. */
    error: text(),
    error_description: text(),
    created_at: integer().notNull(),
    expires_at: integer().notNull(),
  },
  (table) => [
    index("oauth_attempts_by_provider").on(table.workspace_id, table.provider),
    index("oauth_attempts_by_expiry").on(table.expires_at),
  ],
);

export const oauthTokens = sqliteTable(
  "oauth_tokens",
  {
    id: text().notNull(),
    workspace_id: text().notNull(),
    provider: text().notNull(),
    user_id: text().notNull(),
    /** Null for a token that every agent of the user may use. */
    agent_id: text(),
    /** A JSON list of the granted scopes. */
    scopes: text().notNull(),
    /** Encrypted by the key of `key_version`, as is `refresh_token`. */
    access_token: text().notNull(),
    refresh_token: text(),
    key_version: integer().notNull(),
    provider_account_label: text(),
    /** A JSON object of texts that clients need besides the token. */
    metadata: text(),
    is_default: integer({ mode: "boolean" }).notNull(),
    /** Null when the provider states no expiry. */
    expires_at: integer(),
    /** The time until which the process that refreshes the token keeps others from doing so. */
    refreshing_until: integer(),
    created_at: integer().notNull(),
    updated_at: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.workspace_id, table.id] }),
    index("oauth_tokens_by_user").on(table.workspace_id, table.user_id, table.provider),
    index("oauth_tokens_by_provider").on(table.workspace_id, table.provider),
  ],
);

/** The user's tokens that each agent uses. */
export const oauthConnections = sqliteTable(
  "oauth_connections",
  {
    id: text().notNull(),
    workspace_id: text().notNull(),
    agent_id: text().notNull(),
    token_id: text().notNull(),
    /** The owner of the token. */
    user_id: text().notNull(),
    created_at: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.workspace_id, table.id] }),
    uniqueIndex("oauth_connections_by_agent").on(
      table.workspace_id,
      table.agent_id,
      table.user_id,
      table.token_id,
    ),
    index("oauth_connections_by_token").on(table.workspace_id, table.token_id),
    foreignKey({
      columns: [table.workspace_id, table.token_id],
      foreignColumns: [oauthTokens.workspace_id, oauthTokens.id],
    }).onDelete("cascade"),
  ],
);
