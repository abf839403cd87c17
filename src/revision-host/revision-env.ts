import { parseSettings } from "../env.ts";
import { type HostList, parseHostList } from "../lib/host-list.ts";
import type { RevisionRef } from "../lib/revision-ref.ts";
import { openSecret } from "../secrets/secret-box.ts";
import { OUTBOUND_HOSTS } from "../secrets/secret-names.ts";

/**
 * What a secret is sealed with: it opens for this deployment and under this name only, but for each of
 * its revisions, so that the next one takes over what is sealed.
 */
export function secretContext(
  of: { workspaceId: string; deploymentId: string },
  name: string,
): string {
  return `${of.workspaceId}/${of.deploymentId}/${name}`;
}

/** Opens a revision's secrets, a JSON object of name to sealed text. */
export async function openSecrets(
  env: Env,
  ref: RevisionRef,
  sealed: string,
): Promise<Record<string, string>> {
  const { encryptionKeys } = parseSettings(env);
  const texts: Record<string, string> = JSON.parse(sealed);
  const opened = await Promise.all(
    Object.entries(texts).map(async ([name, text]) => [
      name,
      await openSecret(encryptionKeys, text, secretContext(ref, name)),
    ]),
  );
  return Object.fromEntries(opened);
}

/** The whole environment of deployed code: its secrets, and by which deployment it is run. */
export function revisionEnv(
  ref: RevisionRef & { deploymentName: string },
  secrets: Record<string, string>,
): { env: Record<string, string>; outboundHosts: HostList | null } {
  const { [OUTBOUND_HOSTS]: hosts, ...own } = secrets;
  return {
    env: {
      ...own,
      LANGSMITH_HOST_PROJECT_ID: ref.deploymentId,
      LANGSMITH_HOST_PROJECT_NAME: ref.deploymentName,
      LANGSMITH_HOST_REVISION_ID: ref.revisionId,
    },
    // A list that cannot be read allows nothing; it is refused when it is set.
    outboundHosts: hosts === undefined ? null : (parseHostList(hosts) ?? []),
  };
}
