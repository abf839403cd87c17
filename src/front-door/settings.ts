import { z } from "zod";
import { addressRanges, hostName } from "../lib/settings.ts";

/** The hosts of an installation; null for each that is not configured. */
export type Hosts = {
  api: string | null;
  controlPlane: string | null;
  agentsDomain: string | null;
};

export const frontDoorSettings = z
  .object({
    API_HOST: hostName(),
    CONTROL_PLANE_HOST: hostName(),
    AGENTS_DOMAIN: hostName(),
    TRUSTED_PROXIES: addressRanges(),
  })
  .transform((vars) => ({
    hosts: {
      api: vars.API_HOST,
      controlPlane: vars.CONTROL_PLANE_HOST,
      agentsDomain: vars.AGENTS_DOMAIN,
    } satisfies Hosts,
    /** Proxies whose `X-Forwarded-For` is trusted. */
    trustedProxies: vars.TRUSTED_PROXIES,
  }));
