import type { TokenOwner } from "../../db/oauth-tokens-repo.ts";
import type { Settings } from "../../env.ts";
import type { AppContext } from "../../http/app-types.ts";
import { invalidField } from "../../lib/api-error.ts";
import { plainString } from "./schemas.ts";

/** The platform's services that OAuth depends on. */
export type OAuthDeps = {
  db: D1Database;
  settings: Pick<Settings, "encryptionKeys" | "privateEndpoints" | "logLevel">;
};

/** The dependencies for a request of a workspace. */
export type WorkspaceDeps = OAuthDeps & {
  workspaceId: string;
  /** The platform's origin, as the user's browser reaches it. */
  origin: string;
  /**
   * Lets work continue when its client disconnects. A code, and often a refresh token, works only once, so
   * otherwise the token it was exchanged for would be lost.
   */
  keepGoing: <T>(work: Promise<T>) => Promise<T>;
};

/** Returns the dependencies for a request without a key, which belongs to no workspace. */
export function oauthDepsOf(c: AppContext): OAuthDeps {
  return { db: c.env.DB, settings: c.var.settings };
}

export function workspaceDepsOf(c: AppContext): WorkspaceDeps {
  return {
    ...oauthDepsOf(c),
    workspaceId: c.var.scope.workspaceId,
    origin: new URL(c.req.url).origin,
    keepGoing: (work) => keepGoing(c, work),
  };
}

export function keepGoing<T>(c: AppContext, work: Promise<T>): Promise<T> {
  c.executionCtx.waitUntil(work.then(ignore, ignore));
  return work;
}

/** The request reports a failure of the work, because it awaits the work itself. */
function ignore(): void {}

/** The owner of tokens when a request names no user. They belong to everybody who has a key of the workspace. */
const WORKSPACE_USER = "default";

const USER_HEADER = "x-user-id";

/**
 * Returns the owner of the tokens that a request is about. A key stands for its workspace, so it may name any
 * user.
 */
export function tokenOwner(c: AppContext, named?: string | null): TokenOwner {
  const userId = named ?? callingUser(c) ?? WORKSPACE_USER;
  return { workspaceId: c.var.scope.workspaceId, userId };
}

/** Returns the user that the header names, if any. */
export function callingUser(c: AppContext): string | undefined {
  const header = c.req.header(USER_HEADER);
  if (header === undefined || plainString().safeParse(header).success) return header;
  const message = "String should have 1 to 255 characters, and no control characters";
  throw invalidField(["header", USER_HEADER], message, "value_error");
}
