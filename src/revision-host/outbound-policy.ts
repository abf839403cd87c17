import { isPublicHost } from "../lib/endpoint-address.ts";
import { hasHost, type HostList } from "../lib/host-list.ts";

export type OutboundPolicy = {
  /** What the installation allows. */
  installation: HostList;
  /** The deployment's own; null: it has none, and leaves it to the installation. */
  deployment: HostList | null;
  /** Whether addresses that are not public are allowed. */
  allowPrivate: boolean;
};

/** `reason` is the rest of a sentence about the request. */
export type OutboundRefusal = {
  rule: "protocol" | "websocket" | "private_address" | "installation_hosts" | "deployment_hosts";
  reason: string;
};

/**
 * Why a request of deployed code is refused; null when it may go out. It judges the URL: what a
 * public name resolves to, a Worker cannot see.
 */
export function outboundRefusal(
  request: { url: string; headers: Headers },
  policy: OutboundPolicy,
): OutboundRefusal | null {
  const { protocol, hostname } = new URL(request.url);
  if (protocol !== "https:" && protocol !== "http:") {
    return { rule: "protocol", reason: "only http and https are allowed" };
  }
  // What goes through a socket could not be metered.
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
