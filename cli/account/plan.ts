import type { CloudflareApi } from "./cloudflare-api.ts";
import type { Installation } from "./installation-config.ts";
import { findResources } from "./resources.ts";
import { generateSecrets, listSecrets } from "./secrets.ts";

/** Returns sentences that say what `up` would do, given what the account already has. */
export async function planOf(
  api: CloudflareApi,
  { config, region }: Installation,
): Promise<string[]> {
  const resources = await findResources(api, config);
  const secrets = await listSecrets(api, config.name);
  const needed = [
    ...Object.keys(generateSecrets()),
    "PROJECT_ENV",
    ...(region === undefined ? [] : ["REGION_SECRET"]),
  ];
  return [
    ...resources.map(({ resource: { kind, name }, id }) =>
      id === undefined ? `Would make the ${kind} ${name}.` : `The ${kind} ${name} is there.`,
    ),
    secrets === undefined
      ? `Would apply all migrations, and deploy the Worker ${config.name}.`
      : `The Worker ${config.name} is there: would apply the migrations that its database lacks, and deploy what has changed.`,
    ...needed.map((name) =>
      secrets?.has(name) === true ? `The secret ${name} is set.` : `Would set the secret ${name}.`,
    ),
  ];
}
