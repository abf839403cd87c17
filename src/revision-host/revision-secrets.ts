import { listRevisionsByKey, resealRevision } from "../db/revisions-repo.ts";
import { keyRotation } from "../secrets/key-rotation.ts";
import type { Scope } from "../lib/scope.ts";
import { openSecret, resealSecret, sealSecret } from "../secrets/secret-box.ts";

/**
 * Seals secrets in the form stored with a revision: a JSON object of names and sealed texts. A secret without a
 * value is taken from `before`, the secrets of another revision of the deployment. Throws a `SecretBoxError`.
 */
export async function sealSecrets(
  keys: string,
  of: Scope,
  secrets: readonly { name: string; value?: string | null | undefined }[],
  before = "{}",
): Promise<string> {
  const sealedBefore = textsIn(before);
  const entries = secrets.map(async ({ name, value }) => [
    name,
    value == null ? sealedBefore[name] : await sealSecret(keys, value, secretContext(of, name)),
  ]);
  return JSON.stringify(Object.fromEntries(await Promise.all(entries)));
}

/** Returns a revision's secrets by name. Throws a `SecretBoxError` if one cannot be opened. */
export function openSecrets(
  keys: string,
  of: Scope,
  sealed: string,
): Promise<Record<string, string>> {
  return mapValues(textsIn(sealed), (text, name) =>
    openSecret(keys, text, secretContext(of, name)),
  );
}

/** Returns only the sealed secret with this name, for opening it; an empty object as JSON if there is none. */
export function onlySecret(name: string, sealed: string): string {
  const { [name]: text } = textsIn(sealed);
  return JSON.stringify(text === undefined ? {} : { [name]: text });
}

/** The rotation of revisions' secrets to a new version of ENCRYPTION_KEYS. */
export const revisionSecrets = keyRotation({
  kind: "revision",
  // Each revision may have many secrets.
  rows: 20,
  list: listRevisionsByKey,
  reseal: async (db, keys, row) => {
    const of = { workspaceId: row.workspace_id, deploymentId: row.deployment_id };
    const resealed = await mapValues(textsIn(row.secrets), (text, name) =>
      resealSecret(keys, text, secretContext(of, name)),
    );
    return resealRevision(db, row, JSON.stringify(resealed));
  },
  idsOf: (row) => ({
    workspace_id: row.workspace_id,
    deployment_id: row.deployment_id,
    revision_id: row.id,
  }),
});

/**
 * Returns the context that a secret is sealed with: it opens only for this deployment and name, but for each of
 * the deployment's revisions, so that the next revision can reuse the sealed text.
 */
export function secretContext({ workspaceId, deploymentId }: Scope, name: string): string {
  return `${workspaceId}/${deploymentId}/${name}`;
}

function textsIn(sealed: string): Record<string, string> {
  return JSON.parse(sealed) as Record<string, string>;
}

async function mapValues(
  values: Record<string, string>,
  map: (value: string, name: string) => Promise<string>,
): Promise<Record<string, string>> {
  const entries = Object.entries(values).map(async ([name, value]) => [
    name,
    await map(value, name),
  ]);
  return Object.fromEntries(await Promise.all(entries));
}
