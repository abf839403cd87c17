import { z } from "zod";
import { isFirstOf, table } from "../lib/settings.ts";
import { limitOverridesSchema } from "./limit-overrides.ts";

export const rateLimitSettings = z
  .object({
    RATE_LIMITS: isFirstOf(["on", "off"], true),
    RATE_LIMIT_OVERRIDES: table(limitOverridesSchema),
  })
  .transform((vars) => ({
    /** Whether requests to the platform API are limited. */
    rateLimits: vars.RATE_LIMITS,
    rateLimitOverrides: vars.RATE_LIMIT_OVERRIDES,
  }));
