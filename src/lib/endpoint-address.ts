import ipaddr from "ipaddr.js";

export type EndpointPolicy = {
  /** Whether plain HTTP and addresses that are not public are allowed. */
  allowPrivate: boolean;
  /** Whether the URL may have a query; it may not unless said so. */
  allowQuery?: boolean;
};

/** Names by which nothing public is reached, with all that ends in them. */
const LOCAL_NAMES = [
  "localhost",
  "localdomain",
  "local",
  "internal",
  "intranet",
  "lan",
  "corp",
  "home",
  "svc",
  "home.arpa",
];

/** A public address in name only: on Azure's machines it answers with what is theirs. */
const AZURE_PLATFORM = "168.63.129.16";

/** What IANA has given out; all else in IPv6 is special, or reaches IPv4 in disguise. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");

/**
 * Why an endpoint's URL is refused, as the rest of a sentence about it; null when it may be used.
 *
 * It judges the URL alone. A public name can resolve to a private address, and a Worker cannot see
 * what a name resolves to: deployed on Cloudflare, private addresses are out of its reach; who runs
 * the Worker elsewhere has to keep it off internal networks by other means.
 */
export function endpointRefusal(endpointUrl: string, policy: EndpointPolicy): string | null {
  const url = URL.parse(endpointUrl);
  if (url === null) return "should be a URL, such as https://s3.example.com";
  if (url.protocol !== "https:" && url.protocol !== "http:") return "should begin with https://";
  if (url.username !== "" || url.password !== "") return "should not contain credentials";
  if (endpointUrl.includes("?") && policy.allowQuery !== true) return "should not contain a query";
  if (endpointUrl.includes("#")) return "should not contain a fragment";
  if (policy.allowPrivate) return null;
  if (url.protocol === "http:") return "should begin with https://";
  return isPublicHost(url.hostname) ? null : "should not be a private or local address";
}

/** Whether a URL's host name is, by itself, none of a private or local network. */
export function isPublicHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "").replace(/\.+$/, "");
  if (ipaddr.isValid(host)) return isPublicAddress(host);
  const isLocal = LOCAL_NAMES.some((name) => host === name || host.endsWith(`.${name}`));
  // A name with an empty part is none, but what resolvers make of one is their own affair.
  return host.includes(".") && !host.split(".").includes("") && !isLocal;
}

function isPublicAddress(text: string): boolean {
  const address = ipaddr.parse(text);
  if (address.range() !== "unicast" || address.toString() === AZURE_PLATFORM) return false;
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST);
}
