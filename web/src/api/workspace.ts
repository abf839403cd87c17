import { queryOptions } from "@tanstack/react-query";
import type { ControlPlane, Tracing } from "./tracing.ts";

export type Workspace = {
  id: string;
  display_name: string;
  region: string;
  plan: string;
  deployments: { count: number; limit: number };
  exports_at_once: number;
  rate_limits: { name: string; category: string; count: number; seconds: number }[] | null;
};

export type ApiKey = {
  id: string;
  short_key: string;
  description: string;
  created_at: string;
  last_used_at: string | null;
};

export type OAuthProvider = {
  provider_id: string;
  name: string;
  auth_url: string;
  mcp_server_url: string | null;
  uses_pkce: boolean;
  created_at: string;
};

export function workspaceQuery(tracing: Tracing) {
  return queryOptions({
    queryKey: ["workspace"],
    queryFn: ({ signal }) => tracing<Workspace>("/workspaces/current", { signal }),
  });
}

export function keysQuery(tracing: Tracing) {
  return queryOptions({
    queryKey: ["keys"],
    queryFn: ({ signal }) => tracing<ApiKey[]>("/api-key", { signal }),
  });
}

export function providersQuery(control: ControlPlane) {
  return queryOptions({
    queryKey: ["providers"],
    queryFn: ({ signal }) => control<OAuthProvider[]>("/auth/providers", { signal }),
  });
}
