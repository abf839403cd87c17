import { z } from "zod";
import { isFirstOf, optionalText, table } from "../lib/settings.ts";
import { exportLimitsSchema } from "./export-limits.ts";

/** The installation's own S3 credentials, from the variables that S3 clients usually read. */
type InstallationCredentials = {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string | null;
};

export const bulkExportSettings = z
  .object({
    SELF_HOSTED: isFirstOf(["on", "off"], false),
    EXPORT_PRIVATE_ENDPOINTS: isFirstOf(["allow", "refuse"], false),
    AWS_ACCESS_KEY_ID: optionalText(),
    AWS_SECRET_ACCESS_KEY: optionalText(),
    AWS_SESSION_TOKEN: optionalText(),
    EXPORT_LIMITS: table(exportLimitsSchema),
  })
  .transform((vars) => ({
    /** Whether destinations may use the installation's credentials. */
    selfHosted: vars.SELF_HOSTED,
    /** Whether exports and OAuth may use addresses that are not public. */
    privateEndpoints: vars.EXPORT_PRIVATE_ENDPOINTS,
    installationCredentials: credentialsOf(vars),
    exportLimits: vars.EXPORT_LIMITS,
  }));

function credentialsOf(vars: {
  AWS_ACCESS_KEY_ID: string | null;
  AWS_SECRET_ACCESS_KEY: string | null;
  AWS_SESSION_TOKEN: string | null;
}): InstallationCredentials | null {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = vars;
  if (AWS_ACCESS_KEY_ID === null || AWS_SECRET_ACCESS_KEY === null) return null;
  return {
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
    sessionToken: AWS_SESSION_TOKEN,
  };
}
