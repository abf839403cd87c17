import { readRevisionToLoad } from "../db/deployment-lookup-repo.ts";
import { parseSettings } from "../env.ts";
import { type HostList, parseHostList } from "../lib/host-list.ts";
import type { RevisionRef } from "../lib/revision-ref.ts";
import { OUTBOUND_HOSTS } from "../secrets/secret-names.ts";
import type { OutboundPolicy } from "./outbound-policy.ts";
import { openSecrets } from "./revision-secrets.ts";

/** The hosts that the deployment allows itself to reach; null when it leaves that to the installation. */
export function ownHosts(hosts: string | undefined): HostList | null {
  // A list that cannot be read allows nothing; it is refused when it is set.
  return hosts === undefined ? null : (parseHostList(hosts) ?? []);
}

/**
 * What may be reached on behalf of a revision by the platform itself; null for the project that the Worker was
 * built with. It throws where the revision's secrets cannot be read.
 */
export async function readOutboundPolicy(
  env: Env,
  revision: RevisionRef | null,
): Promise<OutboundPolicy> {
  const { outboundHosts, outboundPrivateEndpoints, encryptionKeys } = parseSettings(env);
  const installation = { installation: outboundHosts, allowPrivate: outboundPrivateEndpoints };
  if (revision === null) return { ...installation, deployment: null };
  const row = await readRevisionToLoad(env.DB, revision);
  if (row === undefined) throw new Error(`There is no revision ${revision.revisionId}`);
  const secrets: Record<string, string> = JSON.parse(row.secrets);
  const { [OUTBOUND_HOSTS]: sealed } = secrets;
  if (sealed === undefined) return { ...installation, deployment: null };
  const only = JSON.stringify({ [OUTBOUND_HOSTS]: sealed });
  const { [OUTBOUND_HOSTS]: hosts } = await openSecrets(encryptionKeys, revision, only);
  return { ...installation, deployment: ownHosts(hosts) };
}
