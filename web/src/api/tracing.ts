import { useMemo } from "react";
import { useSession } from "../session/session.tsx";
import { request } from "./request.ts";

/** Asks the tracing API with the session's key; paths are those below `/api/v1`. */
export type Tracing = <T>(
  path: string,
  options?: { method?: string; body?: unknown; signal?: AbortSignal },
) => Promise<T>;

export function useTracing(): Tracing {
  const { config, apiKey } = useSession();
  return useMemo(() => {
    const base = `${config.tracing_url ?? ""}/api/v1`;
    return (path, options = {}) => request(base + path, { apiKey, ...options });
  }, [config, apiKey]);
}
