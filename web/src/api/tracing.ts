import { useMemo } from "react";
import { useSession } from "../session/session.tsx";
import { request } from "./request.ts";

type Ask = <T>(
  path: string,
  options?: { method?: string; body?: unknown; signal?: AbortSignal },
) => Promise<T>;

/** Sends requests to the tracing API with the session's key; paths are below `/api/v1`. */
export type Tracing = Ask;

/** Sends requests to the control plane with the session's key; paths are below `/v2`. */
export type ControlPlane = Ask;

export function useTracing(): Tracing {
  const { config } = useSession();
  return useApi(config.tracing_url, "/api/v1");
}

export function useControlPlane(): ControlPlane {
  const { config } = useSession();
  return useApi(config.control_plane_url, "/v2");
}

function useApi(host: string | null, prefix: string): Ask {
  const { apiKey } = useSession();
  return useMemo(() => {
    const base = `${host ?? ""}${prefix}`;
    return (path, options = {}) => request(base + path, { apiKey, ...options });
  }, [host, prefix, apiKey]);
}
