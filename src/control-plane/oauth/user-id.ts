import type { TokenOwner } from "../../db/oauth-tokens-repo.ts";
import type { AppContext } from "../../http/app-types.ts";
import { invalidField } from "../../lib/api-error.ts";
import { plainString } from "./field-schemas.ts";

/** Of requests that name no user: tokens that belong to whoever has a key of the workspace. */
const WORKSPACE_USER = "default";

const HEADER = "x-user-id";

/** Whose tokens a request is about. A key stands for its workspace, so it may name any user of it. */
export function tokenOwner(c: AppContext, named?: string | null): TokenOwner {
  const userId = named ?? callingUser(c) ?? WORKSPACE_USER;
  return { workspaceId: c.var.scope.workspaceId, userId };
}

/** The user that the header names, if any. */
export function callingUser(c: AppContext): string | undefined {
  const header = c.req.header(HEADER);
  if (header === undefined || plainString().safeParse(header).success) return header;
  const message = "String should have 1 to 255 characters, and no control characters";
  throw invalidField(["header", HEADER], message, "value_error");
}
