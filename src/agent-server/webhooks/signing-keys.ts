import {
  findWebhookKeys,
  insertWebhookKeys,
  listWebhookKeysByKey,
  replaceWebhookKeys,
  type WebhookKeysRow,
} from "../../db/webhook-keys-repo.ts";
import { parseSettings } from "../../env.ts";
import { ApiError } from "../../lib/api-error.ts";
import type { Scope } from "../../lib/scope.ts";
import { keyRotation } from "../../secrets/key-rotation.ts";
import {
  keyVersions,
  openSecret,
  resealSecret,
  sealSecret,
  withSecretBox,
} from "../../secrets/secret-box.ts";
import { newWebhookKey } from "../../secrets/webhook-signature.ts";

/** Milliseconds for which the previous key still signs after a rotation. Receivers must know the new key by then. */
const OVERLAP_MS = 24 * 3_600_000;

/** Maximum attempts at a rotation when another rotation happens between its read and its write. */
const MAX_ROTATE_ATTEMPTS = 5;

/** The keys that sign a deployment's webhooks. Times are epoch milliseconds. */
export type SigningKeys = {
  current: string;
  created_at: number;
  /** The key before the last rotation, while it still signs. */
  previous: { key: string; expires_at: number } | null;
};

/** Returns the keys of a deployment. The first call creates its key. Throws a 503 without ENCRYPTION_KEYS. */
export async function signingKeys(env: Env, scope: Scope): Promise<SigningKeys> {
  return withKeys(async () => open(env, await findOrMake(env, scope)));
}

/** Replaces the current key with a new one. Both sign webhooks for a day. */
export async function rotateSigningKey(env: Env, scope: Scope): Promise<SigningKeys> {
  const { encryptionKeys: keys } = parseSettings(env);
  return withKeys(async () => {
    for (let attempt = 0; attempt < MAX_ROTATE_ATTEMPTS; attempt += 1) {
      const row = await findOrMake(env, scope);
      const now = Date.now();
      const sealed = {
        signing_key: await sealSecret(keys, newWebhookKey(), contextOf(row)),
        previous_key: await resealSecret(keys, row.signing_key, contextOf(row)),
        key_version: keyVersions(keys)[0],
      };
      const next = { ...sealed, previous_expires_at: now + OVERLAP_MS, updated_at: now };
      if (await replaceWebhookKeys(env.DB, row, next)) return open(env, { ...row, ...next });
    }
    throw new ApiError("conflict", "The key is being rotated by other requests");
  });
}

/** Throws if no signing key can be stored, so that a webhook could not be signed. */
export function assertSignable(env: Env): void {
  if (parseSettings(env).encryptionKeys !== "") return;
  throw new ApiError("unavailable", `${CANNOT_SIGN}: ENCRYPTION_KEYS is not set`);
}

/** The rotation of webhook keys to a new version of ENCRYPTION_KEYS. */
export const webhookKeyRotation = keyRotation<WebhookKeysRow>({
  kind: "webhook_key",
  rows: 100,
  list: listWebhookKeysByKey,
  reseal: async (db, keys, row) => {
    const reseal = (sealed: string): Promise<string> => resealSecret(keys, sealed, contextOf(row));
    return replaceWebhookKeys(db, row, {
      signing_key: await reseal(row.signing_key),
      previous_key: row.previous_key === null ? null : await reseal(row.previous_key),
      key_version: keyVersions(keys)[0],
    });
  },
  idsOf: ({ workspace_id, deployment_id }) => ({ workspace_id, deployment_id }),
});

const CANNOT_SIGN = "Webhooks cannot be signed";

function withKeys<T>(work: () => Promise<T>): Promise<T> {
  return withSecretBox(CANNOT_SIGN, work);
}

async function findOrMake(env: Env, scope: Scope): Promise<WebhookKeysRow> {
  const { workspaceId: workspace_id, deploymentId: deployment_id } = scope;
  const { encryptionKeys: keys } = parseSettings(env);
  const found = await findWebhookKeys(env.DB, scope);
  if (found !== undefined) return found;
  const now = Date.now();
  const made = await insertWebhookKeys(env.DB, {
    workspace_id,
    deployment_id,
    signing_key: await sealSecret(
      keys,
      newWebhookKey(),
      contextOf({ workspace_id, deployment_id }),
    ),
    key_version: keyVersions(keys)[0],
    previous_key: null,
    previous_expires_at: null,
    created_at: now,
    updated_at: now,
  });
  if (made === undefined) throw new ApiError("not_found", "Deployment not found");
  return made;
}

async function open(env: Env, row: WebhookKeysRow): Promise<SigningKeys> {
  const { encryptionKeys: keys } = parseSettings(env);
  const { signing_key, previous_key, previous_expires_at: expires_at } = row;
  const isOver = previous_key === null || expires_at === null || expires_at <= Date.now();
  return {
    current: await openSecret(keys, signing_key, contextOf(row)),
    created_at: row.updated_at,
    previous: isOver
      ? null
      : { key: await openSecret(keys, previous_key, contextOf(row)), expires_at },
  };
}

function contextOf(row: Pick<WebhookKeysRow, "workspace_id" | "deployment_id">): string {
  return `webhook_key/${row.workspace_id}/${row.deployment_id}`;
}
