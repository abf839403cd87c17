import { z } from "zod";
import { addressRanges, hostName } from "../lib/settings.ts";

/** The hosts of an installation; null where one is not configured. */
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
    /** `X-Forwarded-For` is believed when one of these has sent it. */
    trustedProxies: vars.TRUSTED_PROXIES,
  }));
