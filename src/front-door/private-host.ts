import type { Settings } from "../env.ts";

/**
 * Each configured host has a private twin, `<region>.p.<host>`, which customers reach from their own
 * networks. Hosts below it are twins, too: `<name>.<region>.p.<host>` is that of `<name>.<host>`.
 */

type HostSettings = Pick<Settings, "region" | "hosts">;

/** The public host that a private one stands for; null when it is not a private one. */
export function publicHostOf(hostname: string, { region, hosts }: HostSettings): string | null {
  return replaceSuffix(hostname, hosts, (host) => [`${region}.p.${host}`, host]);
}

/** The private twin of a public host; null when that is not one of the configured hosts. */
export function privateHostOf(hostname: string, { region, hosts }: HostSettings): string | null {
  return replaceSuffix(hostname, hosts, (host) => [host, `${region}.p.${host}`]);
}

function replaceSuffix(
  hostname: string,
  { api, controlPlane, agentsDomain }: Settings["hosts"],
  change: (host: string) => [from: string, to: string],
): string | null {
  const name = hostname.toLowerCase();
  for (const host of [api, controlPlane, agentsDomain]) {
    if (host === null) continue;
    const [from, to] = change(host);
    if (name === from) return to;
    if (name.endsWith(`.${from}`)) return name.slice(0, -from.length) + to;
  }
  return null;
}
