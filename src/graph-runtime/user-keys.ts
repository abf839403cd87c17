import type { Principal } from "../lib/principal.ts";

/**
 * Under which keys of `configurable` a graph finds whom it works for. Only there: not in the stored
 * config, which clients are shown, not in checkpoints, not in events.
 */
export function userKeys(principal: Principal | null): Record<string, unknown> {
  if (principal === null) return {};
  const { user, permissions } = principal;
  return {
    agent_auth_user: user,
    langgraph_auth_user: user,
    langgraph_auth_user_id: user.identity,
    langgraph_auth_permissions: permissions,
  };
}

export function isUserKey(key: string): boolean {
  return key === "agent_auth_user" || key.startsWith("langgraph_auth_");
}
