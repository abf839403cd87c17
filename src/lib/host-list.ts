/** Hosts in the form of a URL's `hostname`. `*.x` stands for every host below x, and `*` for every host. */
export type HostList = readonly string[];

const ALL = "*";
const BELOW = "*.";

/**
 * Reads hosts separated by commas, such as `api.example.com, *.example.org`. `*` stands for all hosts and `none`
 * for no host. Returns null when an entry is not a host: a URL, a host with a port, or a star in another place.
 */
export function parseHostList(text: string): HostList | null {
  if (text.trim().toLowerCase() === "none") return [];
  const hosts = text.split(",").map((part) => parseHost(part.trim()));
  return hosts.every((host) => host !== null) ? hosts : null;
}

/** Whether a list includes a URL's `hostname`. `*.x` includes the hosts below x, but not x itself. */
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
  // Refuses characters that belong to other parts of a URL, such as a path, a user or a port.
  if (name === "" || /[\s/?#@\\*]/.test(name) || /:\d*$/.test(name.replace(/^\[.*\]$/, ""))) {
    return null;
  }
  const hostname = URL.parse(`https://${name}/`)?.hostname;
  return hostname === undefined ? null : below + withoutDot(hostname);
}

function withoutDot(hostname: string): string {
  return hostname.replace(/\.$/, "");
}
