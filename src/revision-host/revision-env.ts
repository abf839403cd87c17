import { type HostList, parseHostList } from "../lib/host-list.ts";
import type { RevisionRef } from "../lib/revision-ref.ts";
import { OUTBOUND_HOSTS } from "../secrets/secret-names.ts";

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
