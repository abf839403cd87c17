import type { Settings } from "../env.ts";
import { otherRegion } from "../lib/region.ts";
import { apiKeyRegion } from "./api-key.ts";

type RegionSettings = Pick<Settings, "region" | "hosts" | "otherRegionHosts">;

/**
 * What to tell somebody who came with a key of the other region; null for all other keys. The host is
 * the other region's for what was asked for here, which `publicHost` tells.
 */
export function otherRegionText(
  key: string,
  publicHost: string,
  settings: RegionSettings,
): string | null {
  const { region, hosts, otherRegionHosts } = settings;
  if (apiKeyRegion(key) !== otherRegion(region)) return null;
  const { api, controlPlane, agentsDomain } = otherRegionHosts;
  const isAgent = `.${publicHost}`.endsWith(`.${hosts.agentsDomain}`);
  const asked = isAgent ? agentsDomain : publicHost === hosts.controlPlane ? controlPlane : api;
  const host = asked ?? api;
  const where = host === null ? "use the host of that region" : `use https://${host}`;
  return `This API key is of the ${otherRegion(region).toUpperCase()} region: ${where}`;
}
