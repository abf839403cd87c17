import ipaddr from "ipaddr.js";

export type EndpointPolicy = {
  /** Whether plain HTTP and addresses that are not public are allowed. */
  allowPrivate: boolean;
  /** Whether the URL may have a query. Defaults to false. */
  allowQuery?: boolean;
};

/** Host names that never reach a public host, including every name below them. */
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

/** This address is public only in name: on Azure's machines Azure's own platform services answer at it. */
const AZURE_PLATFORM = "168.63.129.16";

/** The IPv6 space that IANA assigns to the public. All other IPv6 ranges are special, or embed an IPv4 address. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");

/**
 * Returns why an endpoint's URL is refused, as a predicate to append to the URL's name; null when it may be used.
 *
 * This checks the URL alone. A public name can resolve to a private address, and a Worker cannot see what a name
 * resolves to. On Cloudflare, Workers cannot reach private addresses; an operator who runs the Worker elsewhere
 * has to keep it off internal networks by other means.
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

/** Whether a URL's host name, judged by its text alone, is outside of private and local networks. */
export function isPublicHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "").replace(/\.+$/, "");
  if (ipaddr.isValid(host)) return isPublicAddress(host);
  const isLocal = LOCAL_NAMES.some((name) => host === name || host.endsWith(`.${name}`));
  // A name with an empty label is invalid, but resolvers differ in how they treat it, so it is refused.
  return host.includes(".") && !host.split(".").includes("") && !isLocal;
}

function isPublicAddress(text: string): boolean {
  const address = ipaddr.parse(text);
  if (address.range() !== "unicast" || address.toString() === AZURE_PLATFORM) return false;
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST);
}
