/** Hosts in the form of a URL's `hostname`; `*.x` is everything below x, and `*` is every host. */
export type HostList = readonly string[];

const ALL = "*";
const BELOW = "*.";

/**
 * Reads hosts separated by commas, such as `api.example.com, *.example.org`; `*` for all of them,
 * `none` for no host. Null when a part is neither: a URL, a port, a star in another place.
 */
export function parseHostList(text: string): HostList | null {
  if (text.trim().toLowerCase() === "none") return [];
  const hosts = text.split(",").map((part) => parseHost(part.trim()));
  return hosts.every((host) => host !== null) ? hosts : null;
}

/** Whether a list has a URL's `hostname`. `*.x` has what is below x, and not x. */
export function hasHost(list: HostList, hostname: string): boolean {
  const host = withoutDot(hostname.toLowerCase());
  return list.some((entry) => {
    if (entry === ALL || entry === host) return true;
    return entry.startsWith(BELOW) && host.endsWith(entry.slice(1)) && host.length >= entry.length;
  });
}

function parseHost(text: string): string | null {
  if (text === ALL) return text;
  const below = text.startsWith(BELOW) ? BELOW : "";
  const name = text.slice(below.length);
  // What a URL could have beside its host.
  if (name === "" || /[\s/?#@\\*]/.test(name) || /:\d*$/.test(name.replace(/^\[.*\]$/, ""))) {
    return null;
  }
  const hostname = URL.parse(`https://${name}/`)?.hostname;
  return hostname === undefined ? null : below + withoutDot(hostname);
}

function withoutDot(hostname: string): string {
  return hostname.replace(/\.$/, "");
}
