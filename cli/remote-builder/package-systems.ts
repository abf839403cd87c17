import { z } from "zod";

const names = z.array(z.string()).optional();

/** What lockfiles of npm and pnpm say of the systems that a package is for. */
export const lockedSystems = { os: names, cpu: names };

type LockedSystems = z.infer<z.ZodObject<typeof lockedSystems>>;

/**
 * Returns whether a package is for certain systems: what is optional and so has native code, which a Worker
 * cannot load, and often megabytes of it for each system.
 */
export function isOfSystem({ os = [], cpu = [] }: LockedSystems): boolean {
  return [...os, ...cpu].some((name) => !name.startsWith("!"));
}
