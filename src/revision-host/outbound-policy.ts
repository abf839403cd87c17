import { isPublicHost } from "../lib/endpoint-address.ts";
import { hasHost, type HostList } from "../lib/host-list.ts";

export type OutboundPolicy = {
  /** The hosts that the installation allows. */
  installation: HostList;
  /** The hosts that the deployment allows; null if it leaves that to the installation. */
  deployment: HostList | null;
  /** Whether addresses that are not public are allowed. */
  allowPrivate: boolean;
};

/** `reason` completes a sentence about the request. */
export type OutboundRefusal = {
  rule: "protocol" | "websocket" | "private_address" | "installation_hosts" | "deployment_hosts";
  reason: string;
};

/**
 * Returns why a request of deployed code is refused; null if it is allowed. Only the URL is checked, because a
 * Worker cannot see what a public name resolves to.
 */
export function outboundRefusal(
  request: { url: string; headers: Headers },
  policy: OutboundPolicy,
): OutboundRefusal | null {
  const { protocol, hostname } = new URL(request.url);
  if (protocol !== "https:" && protocol !== "http:") {
    return { rule: "protocol", reason: "only http and https are allowed" };
  }
  // Traffic of a socket could not be metered.
  if (request.headers.get("upgrade") !== null) {
    return { rule: "websocket", reason: "it may not be upgraded to another protocol" };
  }
  if (!policy.allowPrivate && !isPublicHost(hostname)) {
    return { rule: "private_address", reason: "its host is a private or local address" };
  }
  if (!hasHost(policy.installation, hostname)) {
    return { rule: "installation_hosts", reason: "this installation does not allow its host" };
  }
  if (policy.deployment !== null && !hasHost(policy.deployment, hostname)) {
    return {
      rule: "deployment_hosts",
      reason: "the deployment's THREADWORKS_OUTBOUND_HOSTS does not name its host",
    };
  }
  return null;
}
