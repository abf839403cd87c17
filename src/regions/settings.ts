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
    /** Where Durable Objects are to be; null: wherever the platform puts them. */
    jurisdiction: vars.JURISDICTION satisfies Region | null,
    /** The hosts of the other region's installation, to name to whoever has a key of it. */
    otherRegionHosts: {
      api: vars.OTHER_REGION_API_HOST,
      controlPlane: vars.OTHER_REGION_CONTROL_PLANE_HOST,
      agentsDomain: vars.OTHER_REGION_AGENTS_DOMAIN,
    },
    /** The installation that has the billing rows; null in that installation, or when not configured. */
    billingUrl: vars.BILLING_URL,
    /** What both regions know, and sign the calls between them with; several separated by commas. */
    regionSecret: vars.REGION_SECRET,
  }));
