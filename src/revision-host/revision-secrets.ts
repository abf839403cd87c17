import { listRevisionsByKey, resealRevision } from "../db/revisions-repo.ts";
import { keyRotation } from "../secrets/key-rotation.ts";
import type { Scope } from "../lib/scope.ts";
import { openSecret, resealSecret, sealSecret } from "../secrets/secret-box.ts";

/**
 * Seals secrets as a revision has them: a JSON object of name to sealed text. One without a value is taken from
 * `before`, the secrets of another revision of the deployment. It throws a `SecretBoxError`.
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

/** The values of a revision's secrets by name. It throws a `SecretBoxError` when one cannot be opened. */
export function openSecrets(
  keys: string,
  of: Scope,
  sealed: string,
): Promise<Record<string, string>> {
  return mapValues(textsIn(sealed), (text, name) =>
    openSecret(keys, text, secretContext(of, name)),
  );
}

/** Of sealed secrets the one of this name alone, to be opened; none where there is none. */
export function onlySecret(name: string, sealed: string): string {
  const { [name]: text } = textsIn(sealed);
  return JSON.stringify(text === undefined ? {} : { [name]: text });
}

/** The secrets of revisions, in the registry of what follows a change of ENCRYPTION_KEYS. */
export const revisionSecrets = keyRotation({
  kind: "revision",
  // Each may have many secrets.
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
 * What a secret is sealed with: it opens for this deployment and under this name only, but for each of
 * its revisions, so that the next one takes over what is sealed.
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
