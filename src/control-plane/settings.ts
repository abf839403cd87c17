import { z } from "zod";
import { seconds, webAddress } from "../lib/settings.ts";

export const controlPlaneSettings = z
  .object({
    OAUTH_FRONTEND_CALLBACK_URL: webAddress(),
    DEPLOYMENT_LOG_SECONDS: seconds(14 * 86_400),
  })
  .transform((vars) => ({
    /** The page that shows users how connecting a service ended; null: the platform's own. */
    oauthCallbackPage: vars.OAUTH_FRONTEND_CALLBACK_URL,
    /** How long lines of a deployment's log are kept. */
    deploymentLogMs: vars.DEPLOYMENT_LOG_SECONDS,
  }));
