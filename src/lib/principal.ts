/** The user that a project's own authentication has returned for a request. Plain JSON. */
export type AuthUser = {
  identity: string;
  display_name: string;
  is_authenticated: boolean;
  permissions: string[];
  [extra: string]: unknown;
};

export type Principal = { user: AuthUser; permissions: string[] };

/** A stored API key and the workspace that it belongs to. */
export type KeyIdentity = {
  key_id: string;
  /** The hexadecimal SHA-256 of the key, which itself is not stored. */
  hash: string;
  workspace_id: string;
  /** Milliseconds since the epoch. */
  last_used_at: number | null;
};

/** Looks up a key by its hash; undefined when there is none, or it was revoked. */
export type FindKey = (hash: string) => Promise<KeyIdentity | undefined>;
