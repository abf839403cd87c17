import { z } from "zod";
import { REGIONS, type Region } from "../lib/region.ts";
import { hostName, oneOf, text, webAddress } from "../lib/settings.ts";

export const regionSettings = z
  .object({
    REGION: oneOf(REGIONS, "us"),
    JURISDICTION: oneOf(REGIONS, null),
    OTHER_REGION_API_HOST: hostName(),
    OTHER_REGION_CONTROL_PLANE_HOST: hostName(),
    OTHER_REGION_AGENTS_DOMAIN: hostName(),
    BILLING_URL: webAddress(),
    REGION_SECRET: text(""),
  })
  .transform((vars) => ({
    region: vars.REGION satisfies Region,
    /** The jurisdiction of Durable Objects; null lets the platform choose where to store them. */
    jurisdiction: vars.JURISDICTION satisfies Region | null,
    /**
     * The hosts of the other region's installation. They are named to callers whose key belongs to that region.
     */
    otherRegionHosts: {
      api: vars.OTHER_REGION_API_HOST,
      controlPlane: vars.OTHER_REGION_CONTROL_PLANE_HOST,
      agentsDomain: vars.OTHER_REGION_AGENTS_DOMAIN,
    },
    /**
     * The base URL of the installation that has the billing rows; null in that installation itself, or when not
     * configured.
     */
    billingUrl: vars.BILLING_URL,
    /** Secrets shared by both regions, separated by commas, that sign the calls between them. */
    regionSecret: vars.REGION_SECRET,
  }));
