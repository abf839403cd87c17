/** What a lockfile says of the systems that a package is for. */
export type LockedSystems = { os?: string[] | undefined; cpu?: string[] | undefined };

/**
 * Returns whether a package is for certain systems: what is optional and so has native code, which a Worker
 * cannot load, and often megabytes of it for each system.
 */
export function isOfSystem({ os = [], cpu = [] }: LockedSystems): boolean {
  return [...os, ...cpu].some((name) => !name.startsWith("!"));
}
