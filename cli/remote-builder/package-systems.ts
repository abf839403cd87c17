import { z } from "zod";

const names = z.array(z.string()).optional();

/** The fields of npm's and pnpm's lockfiles that restrict a package to certain systems. */
export const lockedSystems = { os: names, cpu: names };

type LockedSystems = z.infer<z.ZodObject<typeof lockedSystems>>;

/**
 * Returns whether a package is for certain systems only. Optional packages of this kind contain native code,
 * which a Worker cannot load, often megabytes for each system.
 */
export function isOfSystem({ os = [], cpu = [] }: LockedSystems): boolean {
  return [...os, ...cpu].some((name) => !name.startsWith("!"));
}
