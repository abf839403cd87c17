import { parseSettings } from "../../env.ts";
import { ApiError } from "../../lib/api-error.ts";
import { openSecret, SecretBoxError, sealSecret } from "../../secrets/secret-box.ts";
import { secretContext } from "../../revision-host/revision-env.ts";
import type { Secret } from "./secrets-schema.ts";

type DeploymentKey = { workspaceId: string; deploymentId: string };

/** As a revision has them: a JSON object of name to sealed text. 503 without keys to seal with. */
export async function sealSecrets(
  env: Env,
  of: DeploymentKey,
  secrets: readonly Secret[],
): Promise<string> {
  const { encryptionKeys } = parseSettings(env);
  try {
    const sealed = await Promise.all(
      secrets.map(async ({ name, value }) => [
        name,
        await sealSecret(encryptionKeys, value, secretContext(of, name)),
      ]),
    );
    return JSON.stringify(Object.fromEntries(sealed));
  } catch (error) {
    if (!(error instanceof SecretBoxError)) throw error;
    throw new ApiError("unavailable", `Secrets cannot be kept: ${error.message}`);
  }
}

/** The same secrets under the first of the keys. Throws a `SecretBoxError` when one cannot be opened. */
export async function resealSecrets(env: Env, of: DeploymentKey, sealed: string): Promise<string> {
  const { encryptionKeys } = parseSettings(env);
  const texts = JSON.parse(sealed) as Record<string, string>;
  const resealed = await Promise.all(
    Object.entries(texts).map(async ([name, text]) => {
      const context = secretContext(of, name);
      const plain = await openSecret(encryptionKeys, text, context);
      return [name, await sealSecret(encryptionKeys, plain, context)];
    }),
  );
  return JSON.stringify(Object.fromEntries(resealed));
}
