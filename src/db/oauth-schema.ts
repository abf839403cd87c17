import {
  foreignKey,
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";

/** What D1 holds of OAuth: services that users may connect, attempts to connect them, and their tokens. */

export const OAUTH_PROVIDER_TYPES = ["microsoft", "salesforce", "slack"] as const;

export type OAuthProviderType = (typeof OAUTH_PROVIDER_TYPES)[number];

export const OAUTH_CLIENT_AUTH = ["none", "client_secret_basic", "client_secret_post"] as const;

export const oauthProviders = sqliteTable(
  "oauth_providers",
  {
    id: text().notNull(),
    workspace_id: text().notNull(),
    /** The name that the workspace gave it; part of the callback's URL. */
    provider_id: text().notNull(),
    name: text().notNull(),
    client_id: text().notNull(),
    /** Encrypted, by the key of this version; both null: a public client. */
    client_secret: text(),
    key_version: integer(),
    auth_url: text().notNull(),
    token_url: text().notNull(),
    uses_pkce: integer({ mode: "boolean" }).notNull(),
    provider_type: text({ enum: OAUTH_PROVIDER_TYPES }),
    token_endpoint_auth_method: text({ enum: OAUTH_CLIENT_AUTH }).notNull(),
    /** These are of a provider that was found by an MCP server's URL. */
    mcp_server_url: text(),
    /** What tokens are to be for. */
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

/** One user's way through the provider's pages: its id is the `state`, and can be used once. */
export const oauthAttempts = sqliteTable(
  "oauth_attempts",
  {
    auth_id: text().primaryKey(),
    workspace_id: text().notNull(),
    /** The provider's `id`. */
    provider: text().notNull(),
    user_id: text().notNull(),
    agent_id: text(),
    /** JSON list: what is asked for. */
    scopes: text().notNull(),
    is_default: integer({ mode: "boolean" }).notNull(),
    redirect_uri: text().notNull(),
    /** Encrypted; null: without PKCE, or used. */
    code_verifier: text(),
    status: text({ enum: OAUTH_ATTEMPT_STATUSES }).notNull(),
    /** The id of the token that it is to replace; when completed, of the one that it has brought. */
    token_id: text(),
    /** Why it failed: a code of OAuth, or of ours. */
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
    /** Null: for every agent of the user. */
    agent_id: text(),
    /** JSON list: what was granted. */
    scopes: text().notNull(),
    /** Encrypted, as the next one, by the key of this version. */
    access_token: text().notNull(),
    refresh_token: text(),
    key_version: integer().notNull(),
    provider_account_label: text(),
    /** JSON object of texts: what else clients need to use it. */
    metadata: text(),
    is_default: integer({ mode: "boolean" }).notNull(),
    /** Null: as long as the provider likes. */
    expires_at: integer(),
    /** Until when the one who refreshes it keeps others from doing so. */
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

/** Which of a user's tokens an agent takes. */
export const oauthConnections = sqliteTable(
  "oauth_connections",
  {
    id: text().notNull(),
    workspace_id: text().notNull(),
    agent_id: text().notNull(),
    token_id: text().notNull(),
    /** The user whose token it is. */
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
