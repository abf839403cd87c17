import type { Settings } from "../env.ts";
import { VERSION } from "../lib/version.ts";

/** Where the console finds the API, and whether agents ask for a key. A null URL is the page's own origin. */
export type ConsoleConfig = {
  version: string;
  agents_need_key: boolean;
  agents_url: string | null;
  tracing_url: string | null;
  control_plane_url: string | null;
};

export function consoleConfig({ agentAuth, hosts }: Settings): ConsoleConfig {
  const url = (host: string | null): string | null => (host === null ? null : `https://${host}`);
  return {
    version: VERSION,
    agents_need_key: agentAuth !== "none",
    agents_url: url(hosts.agentsDomain),
    tracing_url: url(hosts.api),
    control_plane_url: url(hosts.controlPlane),
  };
}
